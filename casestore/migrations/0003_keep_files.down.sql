DROP TABLE copies;
DROP TABLE files;
