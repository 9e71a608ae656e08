"""Readers of a built page, for the tests."""

from html.parser import HTMLParser


class Html(HTMLParser):
    """The places, links and headings of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.ids: list[str] = []
        self.links: list[str] = []
        """Where links of the text and the menus lead."""
        self.loaded: list[str] = []
        """The files that a browser fetches with the page."""
        self.headings: list[int] = []
        self.images_without_text: list[str] = []
        self.metas: dict[str, str] = {}
        self.steps = ""
        """The data of the slider."""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        self.ids += [values[name] for name in ("id", "name") if name in values]
        self.steps = values.get("data-steps", self.steps)
        is_led_to = tag == "a" or values.get("rel") in {"next", "prev"}
        if "href" in values:
            (self.links if is_led_to else self.loaded).append(values["href"])
        elif "src" in values:
            self.loaded.append(values["src"])
        elif tag == "meta" and "name" in values:
            self.metas[values["name"]] = values["content"]
        if tag == "img" and not values.get("alt"):
            self.images_without_text.append(values["src"])
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self.headings.append(int(tag[1]))
