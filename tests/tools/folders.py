"""A temporary folder, `dir`, for each test or for all tests of a class."""
import pathlib
import tempfile
import unittest


def temporary(add_cleanup):
    folder = tempfile.TemporaryDirectory()
    add_cleanup(folder.cleanup)
    return pathlib.Path(folder.name)


class FolderTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.dir = temporary(self.addCleanup)


class ClassFolderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.dir = temporary(cls.addClassCleanup)
