import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Write
from touche.errors import InputError
from touche.formats.topics import Topic, read_queries_jsonl, read_topics_xml


def test_white_space_is_folded_and_the_optional_parts_may_be_absent(write: Write) -> None:
    path = write(
        "topics.xml",
        """<topics>
        <topic><number> 2 </number><title>
        Which is better,
           a laptop or a desktop?
        </title><objects>laptop, desktop</objects><description> d
        </description><narrative>n &amp; m</narrative></topic>
        <topic><number>51</number><title>Only a title?</title></topic>
        </topics>""",
    )
    assert read_topics_xml(path) == [
        Topic("2", "Which is better, a laptop or a desktop?", ("laptop", "desktop"), "d", "n & m"),
        Topic("51", "Only a title?"),
    ]


def test_queries_take_the_details_of_the_original_query(write: Write) -> None:
    original = {"query_id": "3", "title": "t", "description": "d", "narrative": "n", "objects": ["a", "b"]}
    lines = [{"qid": "3", "query": "t", "original_query": original}, {"qid": 4, "query": "no details"}]
    path = write("queries.jsonl.gz", "\n".join(map(json.dumps, lines)))
    assert read_queries_jsonl(path) == [Topic("3", "t", ("a", "b"), "d", "n"), Topic("4", "no details")]


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<topics>\n<topic>", r":2: broken XML \(no element found\)"),
        ("<topics/>", ": no <topic> in it"),
        ('<!DOCTYPE t [<!ENTITY a "aaaa">\n]><topics/>', ":1: it declares an entity"),
        ('<!DOCTYPE t SYSTEM "file:///etc/passwd">\n<topics>&x;</topics>', ":2: "),
        ("<topics>\n<topic><number>1</number></topic></topics>", ":2: a topic without a title"),
        ("<topics>\n\n<topic><title>t</title></topic></topics>", ":3: topic '' is empty"),
        (
            "<topics>\n<topic><number>1 2</number><title>t</title></topic></topics>",
            ":2: topic '1 2' .* white space",
        ),
        (
            "<topics><topic><number>1</number><title>t</title></topic>\n"
            "<topic><number>1</number><title>u</title></topic></topics>",
            ":2: topic '1' occurs a second time; remove one of the two",
        ),
        ("", ":1: broken XML"),
        ('<?xml version="1.0" encoding="hex"?><topics/>', ":1: unreadable XML"),
        ('<?xml version="1.0" encoding="big5"?><topics/>', ":1: unreadable XML"),
    ],
)
def test_unusable_xml_is_named_with_its_line(write: Write, xml: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"topics\.xml{message}"):
        read_topics_xml(write("topics.xml", xml))


def test_latin1_is_read_if_declared_and_refused_if_not(write: Write) -> None:
    body = "<topics><topic><number>1</number><title>café?</title></topic></topics>"
    declared = '<?xml version="1.0" encoding="ISO-8859-1"?>' + body
    assert read_topics_xml(write("a.xml", declared.encode("latin-1")))[0].title == "café?"
    with pytest.raises(InputError, match=r"b\.xml:1: broken XML"):
        read_topics_xml(write("b.xml", body.encode("latin-1")))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query": "q"}', 'no "qid"'),
        ('{"qid": "2"}', 'no "query"'),
        ('{"qid": "2", "query": ["q"]}', '"query" is not a text'),
        ('{"qid": true, "query": "q"}', '"qid" is not a text'),
        (
            '{"qid": "2", "query": "q", "original_query": {"objects": 5}}',
            '"objects" is neither a text nor a list',
        ),
        (
            '{"qid": "2", "query": "q", "original_query": {"objects": ["a", 5]}}',
            '"objects" is neither a text nor a list of texts',
        ),
        (
            '{"qid": "2", "query": "q", "original_query": {"narrative": ' + "[" * 900 + "]" * 900 + "}}",
            '"narrative" is not a text',
        ),
        ('{"qid": 1e3, "query": "q"}', '"qid" is not a text'),
        ('{"qid": "1", "query": "q"}', "topic '1' occurs a second time"),
    ],
)
def test_unusable_queries_are_named_with_their_line(write: Write, line: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"queries\.jsonl:2: {message}"):
        read_queries_jsonl(write("queries.jsonl", '{"qid": "1", "query": "q"}\n' + line))


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(500, 1500).map(lambda n: "7" * n))
def test_a_number_of_a_topic_reads_back_or_the_topic_is_refused(
    tmp_path_factory: pytest.TempPathFactory, number: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "queries.jsonl"
    path.write_text(json.dumps({"qid": number, "query": "q"}), encoding="utf-8")
    if number and len(number) <= 1000 and number.isprintable() and " " not in number:
        assert read_queries_jsonl(path) == [Topic(number, "q")]
    else:
        with pytest.raises(InputError, match=r"queries\.jsonl:1: topic .{2,70} is empty, too long, or has"):
            read_queries_jsonl(path)


def test_what_is_too_large_for_a_file_of_topics_is_refused_before_it_costs_memory(write: Write) -> None:
    with pytest.raises(InputError, match="larger than 16 MiB"):
        read_topics_xml(write("topics.xml.gz", "<topics>" + " " * (1 << 24)))
