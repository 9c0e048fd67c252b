"""What these tests share with those of the store."""

from tests.store.conftest import beside

__all__ = ["beside"]
