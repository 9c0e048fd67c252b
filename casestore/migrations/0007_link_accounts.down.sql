DROP TABLE link_failures;
DROP TABLE link_codes;
