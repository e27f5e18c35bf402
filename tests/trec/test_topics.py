import time
from collections.abc import Callable

import pytest

from conftest import Write
from touche.errors import InputError
from touche.trec.topics import Topic, name_of_topics, read_topics


def test_white_space_is_folded_and_the_optional_parts_may_be_absent(write: Write) -> None:
    path = write(
        "topics.xml",
        """<topics>
        <topic><number> 2 </number><title>
        Which is better,
           a laptop or a desktop?
        </title><objects>laptop, desktop</objects><description> d
        </description><narrative>n &amp; m</narrative></topic>
        <topic><number>51</number><title>Only a title?</title><objects> </objects></topic>
        </topics>""",
    )
    assert [*read_topics(path)] == [
        Topic(
            number="2",
            title="Which is better, a laptop or a desktop?",
            objects=("laptop", "desktop"),
            description="d",
            narrative="n & m",
        ),
        Topic("51", "Only a title?"),
    ]


TOPIC = "<topic><number>1</number><title>t</title></topic>"


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<topics>\n<topic>", r":2: broken XML \(no element found"),
        ("<topics/>", ": no topics in this"),
        (
            '<!DOCTYPE t [<!ENTITY a "aaaa">\n]><topics/>',
            ":1: the file declares an entity; remove the declaration",
        ),
        (
            '<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><topics>&a;</topics>',
            ":1: the file declares an entity",
        ),
        ('<!DOCTYPE t SYSTEM "file:///etc/passwd">\n<topics>&x;</topics>', ":2: "),
        ("<topics>\n<topic><number>1</number></topic></topics>", ":2: the topic has no title"),
        (
            "<topics>\n\n<topic><title>t</title></topic></topics>",
            ":3: the topic has no number; add a <number>",
        ),
        ("<topic><nr>1</nr><title>t</title></topic>", ":1: the topic has no number; add a <number>"),
        (f"<topics>{TOPIC}\n{TOPIC}</topics>", ":2: topic '1' occurs a second time; remove one of the two"),
        ("", ":1: broken XML"),
        ('<?xml version="1.0" encoding="hex"?><topics/>', ":1: broken XML"),
        ('<?xml version="1.0" encoding="big5"?><topics/>', ":1: broken XML"),
    ],
)
def test_unusable_xml_is_named_with_its_line(write: Write, xml: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"topics\.xml{message}"):
        read_topics(write("topics.xml", xml))


@pytest.mark.parametrize("name", ["topics.xml", "queries.jsonl.gz", "queries.tsv"])
@pytest.mark.parametrize(
    ("content", "form", "remedy"),
    [
        ("1 Q0 a 1 1.5e-3 my tag\n", "a run", "pass a file that contains topics"),
        ("\n1\tPRO\ta\t1\t-1\ttag\n", "a run", "pass a file that contains topics"),
        ("1 0 a -2\n", "qrels", "pass a file that contains topics"),
        (TOPIC, "XML", "if these are topics, name the file topics.xml"),
        ('{"qid": 1, "query": "cats"}\n', "JSON lines", "if these are topics, name the file queries.jsonl"),
    ],
)
def test_another_kind_of_file_is_called_what_it_looks_like(
    write: Write, name: str, content: str, form: str, remedy: str
) -> None:
    path = write(name, content)
    if remedy.endswith(name_of_topics(path)):
        assert read_topics(path)
        return
    line = 1 + content.startswith("\n")
    with pytest.raises(InputError) as caught:
        read_topics(path)
    assert str(caught.value) == f"{path}:{line}: looks like {form}, not like topics; {remedy}"


def test_a_file_of_topics_with_an_error_does_not_look_like_a_run(write: Write) -> None:
    """Although the text of its first topic has the columns of a run."""
    with pytest.raises(InputError, match="not an id, a tab and a query"):
        read_topics(write("queries.tsv", "1\tis it 4 5 pm\n2\n"))


def test_latin1_is_read_if_declared_and_refused_if_not(write: Write) -> None:
    body = "<topics><topic><number>1</number><title>café?</title></topic></topics>"
    declared = '<?xml version="1.0" encoding="ISO-8859-1"?>' + body
    assert read_topics(write("a.xml", declared.encode("latin-1")))[0].title == "café?"
    with pytest.raises(InputError, match=r"b\.xml:1: broken XML"):
        read_topics(write("b.xml", body.encode("latin-1")))


def test_what_is_too_large_for_a_file_of_topics_is_refused_before_it_costs_memory(write: Write) -> None:
    for name in ("topics.xml", "topics.xml.gz"):
        with pytest.raises(InputError, match=r"larger than 16 MiB|unpacks to more than 500 times"):
            read_topics(write(name, "<topics>" + " " * (1 << 24)))


@pytest.mark.parametrize(
    ("name", "content", "topics"),
    [
        (
            "topics.xml",
            "<topic><number>1</number><title>Should <b>cats</b> stay <i>in<u>doors</u></i>?</title>"
            "<description>a<br/>b <!-- c -->d</description><title> </title></topic>",
            [Topic("1", "Should cats stay indoors?", description="ab d")],
        ),
        (
            "topics.xml",
            '<t><topic number="1"><title>cats</title></topic><topic id = " 2 "><query>birds</query></topic>'
            '<topic number="3"><num>3</num><title> </title><query>a<number>9</number></query></topic></t>',
            [Topic("1", "cats"), Topic("2", "birds"), Topic("3", "a9")],
        ),
        (
            "topics.xml",
            '<t><topic number="1"><title>cats</title><topic>pets</topic></topic>'
            '<topic id="2"><title>a</title></topic></t>',
            [Topic("1", "cats"), Topic("2", "a")],
        ),
        (
            "topics.xml",
            '<TOPICS xmlns="https://example.org/t"><Topic NUMBER="1"><TITLE>Cats <B>In</B></TITLE>'
            "<Description>D</Description></Topic></TOPICS>",
            [Topic("1", "Cats In", description="D")],
        ),
        (
            "topics.xml",
            '<t:topics xmlns:t="https://example.org/t"><t:topic><t:number>1</t:number><t:title>a</t:title>'
            "<t:objects>x, y</t:objects></t:topic></t:topics>",
            [Topic("1", "a", ("x", "y"))],
        ),
        ("topics.xml", b"\xff\xfe" + TOPIC.encode("utf-16-le"), [Topic("1", "t")]),
        ("topics.xml", b"\xef\xbb\xbf" + TOPIC.encode(), [Topic("1", "t")]),
        ("topics.xml", TOPIC.replace("><", ">\r<"), [Topic("1", "t")]),
        (
            "queries.jsonl",
            '{"query_id": "1", "text": "cats"}\n{"id": 2, "query": "birds"}\n{"qid": 3.0, "query": "c"}\n'
            '{"query_id": 4, "title": "a", "description": "d", "narrative": "n", "objects": ["x", "y"]}\n'
            '{"_id": "5", "text": "b", "metadata": {"description": "e"}, "description": "not BEIR\'s"}\n',
            [
                Topic("1", "cats"),
                Topic("2", "birds"),
                Topic("3", "c"),
                Topic("4", "a", ("x", "y"), "d", "n"),
                Topic("5", "b", description="e"),
            ],
        ),
        ("queries.tsv", "1\tcats  indoors \n\n2\tbirds\n", [Topic("1", "cats indoors"), Topic("2", "birds")]),
        ("topics.tsv", "qid\tquery\n1\tcats\n", [Topic("1", "cats")]),
        ("topics.jsonl.gz", '{"qid": 1, "query": "cats"}\n', [Topic("1", "cats")]),
    ],
)
def test_topics_are_read_as_other_tools_write_them(
    write: Write, name: str, content: str | bytes, topics: list[Topic]
) -> None:
    """An element's text is XML's string value: that of all elements in it."""
    assert [*read_topics(write(name, content))] == topics


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "topics.xml",
            "<top>\n<num> Number: 301\n<title> Cats\n</top>",
            "TREC's SGML.*; write a <topic> with",
        ),
        ("topics.xml", "<a>" * 5_000_000, "more than 100 elements in each other"),
        (
            "queries.tsv",
            "1\tcats\tabout cats\n",
            r"queries.tsv:1: not an id, a tab and a query; write both, or",
        ),
        ("queries.tsv", "1 cats\n", "not an id, a tab and a query"),
        ("queries.jsonl", '{"qid":1,"query":"a"}\n'.encode("utf-16"), "not UTF-8"),
        ("queries.jsonl", '{"qid":1,"query":"a"}\n'.encode("utf-16-le"), "a null character, as in UTF-16"),
        ("queries.jsonl", '{"qid":1,"query":"é"}\n'.encode("latin-1"), "not UTF-8.*; save the file in UTF-8"),
        ("queries.jsonl", '{"qid":1,"query":"a"}\n{"qid":2,"query":" "}\n', ":2: the query is empty; write"),
        ("queries.jsonl", "\n" * 500_001, "more than 500,000 lines"),
    ],
)
def test_topics_in_another_format_are_named(
    write: Write, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=rf"\A.*{message}.*\Z"):
        read_topics(write(name, content))


@pytest.mark.parametrize(
    ("elements", "problem"),
    [
        ("<title>Katzen</title><title>cats</title>", "topic '1' has <title> 'Katzen' and <title> 'cats'"),
        ("<title>cats</title><query>dogs</query>", "topic '1' has <title> 'cats' and <query> 'dogs'"),
        ("<title>a</title><number>2</number>", "the topic has <number> '1' and <number> '2'"),
        ("<title>a</title><description>b</description><description>c</description>", "<description> 'b' and"),
        (
            "<title>a</title><narrative>b</narrative><narrative>c</narrative>",
            "<narrative> 'b' and <narrative>",
        ),
        ("<title>a</title><objects>b, c</objects><OBJECTS>d</OBJECTS>", "<objects> 'b, c' and <objects> 'd'"),
    ],
)
def test_a_field_that_occurs_twice_in_a_topic_is_refused(write: Write, elements: str, problem: str) -> None:
    path = write(
        "topics.xml",
        f"<topics>\n{TOPIC.replace('>1<', '>0<')}\n<topic><number>1</number>{elements}</topic></topics>",
    )
    with pytest.raises(InputError, match=rf"topics\.xml:3: .*{problem}.*; keep one of them"):
        read_topics(path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "topics.xml",
            '<t><topic number="1"><number>2</number><title>a</title></topic></t>',
            "numbers '1' and '2'",
        ),
        ("topics.xml", '<t><topic number="1" num="9"><title>a</title></topic></t>', "numbers '1' and '9'"),
        ("queries.jsonl", '{"qid": "1", "_id": "2", "query": "a"}', "numbers '1' and '2'"),
        ("queries.jsonl", '{"qid": "1", "query": "a", "title": "b"}', "titles 'a' and 'b'"),
    ],
)
def test_two_fields_for_the_same_thing_are_refused_unless_they_are_equal(
    write: Write, name: str, content: str, problem: str
) -> None:
    with pytest.raises(InputError, match=rf"{name}:1: the topic has the {problem}; keep one of them"):
        read_topics(write(name, content))
    equal = content.replace("2", "1").replace("9", "1").replace('"b"', '"a"')
    (topic,) = read_topics(write(name, equal))
    assert (topic.number, topic.title) == ("1", "a")


def test_a_topic_inside_another_one_is_not_lost(write: Write) -> None:
    """As if the outer one weren't closed. An element that is only named topic is a part of the outer one."""
    inner = "\n<topic><number>2</number><title>Dogs</title></topic>"
    path = write(
        "topics.xml", f"<topics><topic><number>1</number><title>Cats</title>{inner}</topic></topics>"
    )
    with pytest.raises(InputError, match=r"topics\.xml:2: a <topic> in another one; close the one before it"):
        read_topics(path)


def test_a_file_of_many_elements_is_refused_before_its_tree_fills_memory(write: Write) -> None:
    path = write("topics.xml", f"<topics><topic>{'<a/>' * 100_000}</topic></topics>")
    with pytest.raises(
        InputError, match="more than 100,000 elements; check that this is a Touché topics file"
    ):
        read_topics(path)


def many_tags(attributes: str) -> str:
    return f"<topics>{f'<topic {attributes}/>' * (14_000_000 // len(attributes))}</topics>"


def numbered(attribute: str, count: int) -> str:
    return " ".join(attribute % n for n in range(count))


# Functions, because each process of pytest-xdist imports this file, but few of them run these tests.
@pytest.mark.parametrize(
    ("make_content", "problem"),
    [
        (lambda: "<topic " + numbered('a%d=">"', 1_200_000) + "/>", "a tag of 16 KiB or more"),
        (lambda: ("<topic " + numbered('ľ%d=""', 600_000) + "/>").encode("utf-16"), "a tag of 16"),
        (lambda: f'<topic a="{"x" * 15_000_000}"/>', "a tag of 16 KiB or more"),
        (lambda: "<topic " + numbered('xmlns:a%d="u"', 900_000) + "/>", "a tag of 16 KiB or more"),
        (lambda: many_tags(numbered('a%d=""', 1500)), "more than 100,000 attributes"),
        (
            lambda: f'<t xmlns="{"u" * 12_000}">{"".join(f"<a{n}/>" for n in range(90_000))}</t>',
            "names and namespaces of",
        ),
        (lambda: f"<topics><!--{' ' * 15_000_000}--></topics>", "a comment of 256 KiB or more"),
        (
            lambda: "<!DOCTYPE t [<!ATTLIST t " + numbered('a%d CDATA ""', 700_000) + ">]><t/>",
            "the file declares an attribute; remove the declaration",
        ),
    ],
    ids=["attributes", "utf-16", "value", "namespaces", "many tags", "long namespace", "comment", "declared"],
)
def test_attributes_and_namespaces_are_refused_before_they_cost_time_or_memory(
    write: Write, make_content: Callable[[], str | bytes], problem: str
) -> None:
    path = write("topics.xml", make_content())
    start = time.process_time()
    with pytest.raises(InputError, match=rf"topics\.xml:1: {problem}"):
        read_topics(path)
    assert time.process_time() - start < 1.5  # without the limits at least 2 s, or far more memory


def test_long_texts_and_comments_are_read(write: Write) -> None:
    path = write(
        "topics.xml",
        f"<!-- {'TOPIC ' * 10_000}--><topics><topic><number>1</number><title>t</title>"
        f"<narrative>{'word ' * 100_000}<![CDATA[{'<a> ' * 100_000}]]></narrative></topic></topics>",
    )
    assert len(read_topics(path)[0].narrative) == 899_999
