"""Results that are tables for pandas and texts for people."""

from ._unit import Text


class Table:
    """A result. _rows names the field with its rows, which are dataclasses."""

    def to_pandas(self):
        """The rows as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(getattr(self, self._rows))

    def _repr_html_(self):
        return Text(self)._repr_html_()
