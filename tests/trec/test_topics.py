import pytest

from conftest import Write
from touche.errors import InputError
from touche.trec.topics import Topic, read_topics_xml


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
    assert read_topics_xml(path) == [
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
        read_topics_xml(write("topics.xml", xml))


def test_latin1_is_read_if_declared_and_refused_if_not(write: Write) -> None:
    body = "<topics><topic><number>1</number><title>café?</title></topic></topics>"
    declared = '<?xml version="1.0" encoding="ISO-8859-1"?>' + body
    assert read_topics_xml(write("a.xml", declared.encode("latin-1")))[0].title == "café?"
    with pytest.raises(InputError, match=r"b\.xml:1: broken XML"):
        read_topics_xml(write("b.xml", body.encode("latin-1")))


def test_what_is_too_large_for_a_file_of_topics_is_refused_before_it_costs_memory(write: Write) -> None:
    with pytest.raises(InputError, match="larger than 16 MiB"):
        read_topics_xml(write("topics.xml.gz", "<topics>" + " " * (1 << 24)))
