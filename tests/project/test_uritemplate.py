"""URI templates matched in reverse."""

import pytest

from toolyard.catalog.uritemplate import NotATemplate, match, parse, variables


@pytest.mark.parametrize(
    "template, uri, found",
    [
        ("test://template/{id}/data", "test://template/1/data", {"id": "1"}),
        ("test://template/{id}/data", "test://template/1/2/data", None),
        ("test://template/{id}/data", "test://template//data", None),
        ("test://template/{id}/data", "test://template/1/data/more", None),
        ("test://{a}/{b}", "test://x%20y/%C3%A9", {"a": "x y", "b": "é"}),
        ("log:///{s}-{date}.log", "log:///web-24-01.log", {"s": "web", "date": "24-01"}),
        ("x:{name}.log", "x:a.log.log", {"name": "a.log"}),
        ("file:///{path}", "file:///a/b.txt", {"path": "a/b.txt"}),
        ("git+https://{r}/{b}/{p}", "git+https://r/main/a/b", {"r": "r", "b": "main", "p": "a/b"}),
        ("x:/a{+rest}", "x:/a/b/c?d#e", {"rest": "/b/c?d#e"}),
        ("x:{+a}-{b}", "x:x-y/z-w", {"a": "x-y/z", "b": "w"}),
        ("x:a{#frag}", "x:a#part", {"frag": "part"}),
        ("x:a{.ext}", "x:a.txt", {"ext": "txt"}),
        ("x:a{.ext}", "x:a.tar.gz", None),
        ("x:{/a,b}", "x:/1/2", {"a": "1", "b": "2"}),
        ("x:{/a}", "x:/1/2", None),
        ("x:{/a*}", "x:/1/2", {"a": "1/2"}),
        ("x:p{;v,w}", "x:p;v=1;w=2", {"v": "1", "w": "2"}),
        ("x:s{?q,page}", "x:s?page=2&q=a%26b", {"page": "2", "q": "a&b"}),
        ("x:s{?q,page}", "x:s?q=1", {"q": "1"}),
        ("x:s{?q,page}", "x:s", {}),
        ("x:s{?q}", "x:s?other=1", None),
        ("x:s?fixed=1{&q}", "x:s?fixed=1&q=2", {"q": "2"}),
        ("x:{path}{?q}", "x:p?q=1", {"path": "p", "q": "1"}),
        ("x:{path}{?q}", "x:p", {"path": "p"}),
        ("x:{a,b}", "x:1,2", {"a": "1", "b": "2"}),
        ("x:{a:3}", "x:abc", {"a": "abc"}),
        ("x:{a}/{a}", "x:1/1", {"a": "1"}),
        ("x:{a}/{a}", "x:1/2", None),
        ("x:(.*){a}", "x:(.*)1", {"a": "1"}),
        ("x:(.*){a}", "x:anything1", None),
    ],
)  # fmt: skip
def test_a_template_gives_the_variables_of_a_uri(
    template: str, uri: str, found: dict[str, str] | None
) -> None:
    assert match(template, uri) == found


@pytest.mark.parametrize("template", ["x:{}", "x:{   }", "x:{a", "x:a}", "x:", "x:{?}", "x:{{a}}"])
def test_what_is_no_template_matches_nothing_and_says_why(template: str) -> None:
    assert match(template, "x:1") is None
    with pytest.raises(NotATemplate):
        parse(template)


def test_the_variables_of_a_template_are_named_in_order() -> None:
    assert variables("x:{a}/{+b,c}{?d*}") == ("a", "b", "c", "d")


def test_a_hostile_uri_ends_the_search_soon() -> None:
    assert match("x:{+a}-{+b}-{+c}-{+d}-{+e}!", "x:" + "-" * 8000) is None
    assert match("x:{a}", "x:" + "a" * 9000) is None
