"""The rules by which a clause is a statement about its speaker: patterns of English, by kind of note.

A clause is in lower case, with straight apostrophes, contractions written out ("i am", "do not") and single blanks.
The first rule that matches from the clause's start decides.
"""

from __future__ import annotations

import re
from typing import Final

from mnemic.types import NoteKind


def _any(*lines: str) -> str:
    """An alternative of words; ``_`` stands for a blank within one."""
    words = [word.replace("_", " ") for line in lines for word in line.split()]
    return "(?:" + "|".join(re.escape(word) for word in words) + ")"


_ADVERBS: Final = (
    "(?:"
    + _any(
        "really actually also just still always usually often sometimes currently honestly totally absolutely",
        "definitely truly genuinely kinda personally both already recently finally mostly generally normally typically",
        "rarely even simply especially particularly quite very so too pretty super extremely incredibly such now",
        "originally basically certainly sure_do do did have_always have_never have_long always_have so_much kind_of",
        "sort_of a_bit a_little a_lot more right_now at_the_moment these_days lately been",
    )
    + " )*"
)
_I: Final = f"i {_ADVERBS}"
_I_AM: Final = f"(?:i {_ADVERBS}am|i have been) (?:not )?{_ADVERBS}"
_I_WE: Final = "(?:i|we)"
_DO_NOT: Final = "(?:do not|did not|have never|never|can not)"
_LIKE: Final = _any("like love hate enjoy prefer adore dislike loathe detest despise fancy loved hated")
_FONDNESS: Final = _any(
    "into keen_on fond_of crazy_about mad_about obsessed_with passionate_about addicted_to partial_to big_on sick_of",
    "tired_of fed_up_with drawn_to fascinated_by fascinated_with",
)
_FAVORITE: Final = "(?:favou?rites?|faves?)"
# What is liked must be something in the world, not the other's words: no "I love that", "I like the idea".
_OBJECT: Final = (
    r"(?!(?:(?:the|this|that|these|those|all of) (?:idea|sound|look|suggestion|recommendation)s?"
    r"|that|this|it|you|your|how you|what you|the way you|hearing|seeing your|to hear|so|too)\b)"
)
_PEOPLE: Final = _any(
    "wife husband spouse partner girlfriend boyfriend fiance fiancee fiancé fiancée ex mom mum mother dad father",
    "parents brother brothers sister sisters sibling siblings son sons daughter daughters kid kids child children baby",
    "twins grandma grandmother granny grandpa grandfather grandparents grandson granddaughter aunt uncle cousin",
    "cousins niece nephew relatives in-laws stepdad stepmom roommate roommates dog dogs puppy cat cats kitten pet pets",
    "best_friend friend friends neighbor neighbors neighbour neighbours",
)
_CIRCLE: Final = _any("family boss coworker coworkers colleague colleagues team band class students")
_THINGS: Final = _any(
    "name nickname birthday hometown home house apartment flat place car bike job work career major degree business",
    "company store shop studio blog channel hobby hobbies passion dream goal goals plan plans diet allergy allergies",
    "religion faith height weight age health condition background heritage native_language first_language",
    "mother_tongue pronouns zodiac_sign salary budget phone laptop computer garden",
)
_OWNED: Final = (
    r"(?:an? |two |three |four |five |six |no |\d+ |my own |several )(?:\w+[ -]){0,3}?(?:"
    + _PEOPLE
    + "|"
    + _any(
        "allergy allergies degree diploma license licence phd masters house apartment flat garden car bike motorcycle",
        "truck boat cabin tattoo tattoos disability diabetes asthma adhd autism anxiety depression turtle turtles fish",
        "bird birds horse horses rabbit hamster snake lizard chickens business collection job blog phobia fear habit",
        "tradition routine hobby",
    )
    + r")\b"
)
_AILMENTS: Final = _any(
    "cold flu fever headache migraine toothache stomachache backache hangover cough sore_throat injury deadline exam",
    "interview meeting appointment",
)
_FEELINGS: Final = _any(
    "tired exhausted busy swamped sick ill unwell stressed anxious nervous worried overwhelmed excited thrilled stoked",
    "pumped psyched sad upset angry frustrated bored lonely stuck hungry starving injured broke unemployed jobless",
    "depressed burned_out burnt_out homesick jet-lagged hopeful scared terrified heartbroken devastated disappointed",
    "confused torn conflicted behind late on_vacation on_holiday on_leave on_maternity_leave on_a_diet on_a_break",
    "in_pain in_love out_of_town out_of_work away pregnant expecting happy proud relieved determined motivated",
    "inspired nostalgic restless sore sleepy hungover feverish under_the_weather",
)
_LASTING: Final = _any(
    "vegetarian vegan pescatarian married divorced single engaged widowed separated allergic intolerant gluten-free",
    "lactose_intolerant gluten_intolerant celiac coeliac left-handed right-handed ambidextrous deaf blind colorblind",
    "colourblind color-blind nearsighted diabetic asthmatic dyslexic autistic bipolar gay lesbian bi bisexual trans",
    "transgender queer nonbinary non-binary straight jewish muslim christian catholic buddhist hindu atheist agnostic",
    "religious spiritual american british english irish scottish welsh french german italian spanish portuguese dutch",
    "swedish norwegian danish finnish polish russian ukrainian greek turkish indian chinese japanese korean vietnamese",
    "thai filipino mexican brazilian canadian australian nigerian kenyan egyptian iranian israeli swiss austrian",
    "retired self-employed adopted bilingual trilingual shy introverted extroverted tall short claustrophobic",
    "afraid_of scared_of terrified_of from born based responsible_for in_charge_of good_at bad_at terrible_at great_at",
    "the_oldest the_youngest the_eldest the_only named called raised used_to",
)
_ACTIVITIES: Final = _any(
    "study teach coach own speak play collect practice practise run manage raise commute come_from believe_in value",
    "go_by identify_as belong_to serve blog paint garden knit",
)
_SKILLS: Final = _any("play speak cook drive swim ride bake sing dance sew knit code eat drink read write ski surf")
_RARELY: Final = _any(
    "always usually often normally typically generally rarely seldom never hardly_ever tend_to mostly"
)
_NO_HABITS: Final = _any(
    "say said think thought mean meant know knew guess suppose see hear forget agree understand want wonder tell ask",
    "expect imagine believe hope feel realize realise get_told have been would will",
)
_WEEKDAYS: Final = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_EVERY: Final = (
    r"(?:(?:every|each|once a|twice a|three times a|most) (?:single |other )?"
    rf"(?:day|morning|evening|night|week|weekend|month|year|summer|winter|{_WEEKDAYS}|{_WEEKDAYS}s|days|mornings)"
    rf"|on (?:{_WEEKDAYS}s|weekends|weekdays))\b"
)
_SO_LONG: Final = (
    r"(?:since \w|for (?:about |over |almost |nearly |around |the (?:past|last) )?"
    r"(?:an?|\d+|two|three|four|five|six|seven|eight|nine|ten|several|many|some|years|months|weeks|ages|decades)\b)"
)
# Verbs in -ing that tell what someone thinks or does while talking.
_WHILE_TALKING: Final = _any(
    "kidding joking saying telling asking wondering guessing assuming hoping thinking talking wishing hearing loving",
    "liking enjoying hating looking trying dying begging sending rooting cheering seeing starting doing getting",
    "considering going gonna",
)
_PAST: Final = _any(
    "was went got took made came bought met ran won lost left found began became gave kept led read sent spent taught",
    "wrote ate drove flew built caught chose fell fought grew held hurt put rode sang slept spoke stood swam threw",
    "woke wore broke brought sold paid saw had did let drank drew dug hid hit knit quit beat bit bled bred cut dealt",
    "fed forgave froze hung laid lent lit rang rose set shot shut stole struck swore tore wound",
)
# Past verbs of thinking and talking, and openings, that tell of no event in a life.
_NO_EVENT: Final = _any(
    "thought knew meant said told asked wondered figured guessed noticed heard agreed hoped wished needed wanted",
    "supposed assumed realized realised believed understood forgot mentioned imagined expected liked loved hated",
    "appreciated intended tried used seemed looked doubted considered reckoned replied answered suggested recommended",
    "apologized need did was had_to had_a_feeling had_no_idea got_it got_this got_that got_you got_to_say got_to_go",
)
_DONE: Final = _any(
    "been_to been_in been_through been_promoted been_accepted been_working been_diagnosed done gone seen met taken",
    "made written bought won lost found given started begun become gotten",
)
_HAPPENED: Final = _any(
    "promoted diagnosed fired hired laid_off accepted admitted born raised invited asked_to chosen selected elected",
    "rejected robbed mugged hospitalized hospitalised injured adopted at in on there a an living working studying",
    "visiting traveling travelling married",
)


def _rule(kind: NoteKind, *pieces: str) -> tuple[NoteKind, re.Pattern[str]]:
    return kind, re.compile("".join(pieces))


PATTERNS: Final = (
    # likes and dislikes
    _rule("preference", rf"{_I}{_LIKE} {_OBJECT}\w"),
    _rule(
        "preference",
        rf"i {_DO_NOT} {_ADVERBS}(?:liked?|loved?|enjoy(?:ed)?|care for|mind|hate|stand|bear|stomach|resist) ",
        rf"{_OBJECT}\w",
    ),
    _rule("preference", rf"{_I}can not (?:live|do|go) without {_OBJECT}\w|i can not get enough of \w"),
    _rule("preference", rf"{_I_AM}(?:an? )?(?:\w+ )?(?:fan|lover|sucker|kind of person) (?:of|for) {_OBJECT}\w"),
    _rule("preference", rf"{_I_AM}(?:more of )?an? (?:\w+[ -]){{1,2}}(?:person|fan|lover|addict|enthusiast|buff)\b"),
    _rule("preference", rf"{_I_AM}{_FONDNESS} {_OBJECT}\w"),
    _rule("preference", rf"i am {_ADVERBS}(?:loving|enjoying|hating|liking) {_OBJECT}\w"),
    _rule(
        "preference", rf"my (?:\w+ ){{0,3}}?(?:all-time )?(?:least )?{_FAVORITE}\b.* (?:is|are|was|were|has|would)\b"
    ),
    _rule(
        "preference",
        r"(?:\S+ ){1,8}?(?:is|are|was|were|has been|have been) (?:\w+ )?(?:one of )?",
        rf"my (?:\w+ ){{0,2}}?{_FAVORITE}",
    ),
    _rule("preference", r"i (?:would|had) (?:much )?(?:rather|prefer) \w"),
    _rule("preference", r"i find (?!out|myself|that|it (?:hard|difficult)|your?)\S+(?: \S+){1,6}"),
    _rule("preference", rf"{_I}have (?:an? )?(?:\w+ )?(?:soft spot|sweet tooth|passion|thing|weakness|love) for \w"),
    _rule(
        "preference",
        r"i have (?:always |never )(?:had an? |been )?(?:\w+ )?",
        rf"(?:love|passion|thing|soft spot|loved|liked|hated|enjoyed|preferred|{_FONDNESS})\b",
    ),
    _rule(
        "preference", r"(?:it|that|this|\w+ing|[\w ]{2,30}) (?:is|are|was|were) (?:not )?(?:\w+ )?\w+ for me(?: \w+)?$"
    ),
    # how the speaker is now
    _rule("state", rf"{_I_AM}(?:feeling )?{_FEELINGS}\b(?! for you| to hear| you)"),
    _rule(
        "state",
        r"i (?:have been )?(?:\w+ )?(?:feel|am feeling|feeling|been feeling) ",
        r"(?!like (?:i|you|we|it|this|that|those|these|there)\b|that\b|free\b|you|the same\b",
        r"|(?:so |really |pretty )?(?:good|great|fine|ok|okay|better)$)\w",
    ),
    # what the speaker is and does
    _rule("trait", rf"{_I_AM}{_LASTING}\b"),
    _rule(
        "trait",
        r"i am (?:\w+ )?(?:\d{1,3}|twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:[ -]\w+)? years? old|i am \d{2}$",
    ),
    _rule("trait", rf"{_I_AM}an? (?!bit\b|little\b|lot\b|few\b|mess\b|wreck\b|step\b)(?:[\w-]+ ?){{1,6}}"),
    _rule("trait", rf"{_I}(?:live|reside) (?:in|at|with|near|by|on|alone|close|next|abroad|here)\b"),
    _rule("trait", rf"{_I}(?:work|volunteer) (?:as|at|for|in|with|from|on|part|full|nights|remotely|there|\w+ing)\b"),
    _rule("trait", rf"{_I}{_ACTIVITIES} \w"),
    _rule("trait", rf"i can (?:not )?(?:\w+ )?{_SKILLS}\b"),
    _rule("trait", rf"{_I}(?:have|have got) {_OWNED}"),
    _rule("trait", rf"i {_RARELY} (?!{_NO_HABITS}\b)\w+ \w+"),
    _rule("trait", rf"{_I_WE} (?!would |will |could |should |can |am |was )(?:\w+ ){{1,8}}{_EVERY}"),
    _rule(
        "trait",
        r"i (?:do not|never) (?:really |even |usually |ever )?",
        r"(?:eat|drink|smoke|own|drive|speak|cook|watch|play|use|work|wear|believe in|sleep|travel|exercise) \w+",
        r"|i (?:do not|never) (?:really |even |usually |ever )?(?:drink|smoke|drive|cook|exercise|swim|gamble)$",
    ),
    _rule("trait", r"i (?:grew up|was born|was raised|come from) \w"),
    _rule(
        "trait",
        r"i have (?:been|lived|worked|played|known|had|studied|taught|volunteered) ",
        rf"(?!thinking|looking|trying|meaning|wanting)(?:\S+ ){{0,8}}?{_SO_LONG}",
    ),
    # what the speaker is doing and wants
    _rule("state", rf"i am {_ADVERBS}(?!{_WHILE_TALKING}\b)(?!(?:\w+ )?looking forward)\w+ing \w+"),
    _rule(
        "state",
        r"i am (?:\w+ )?(?:looking forward to|thinking (?:of|about)|considering|hoping to|dying to|trying to|doing) ",
        r"(?!hear|see(?:ing)? you|it\b|that\b|this\b|well\b|good\b|great\b|fine\b|ok|alright|better|make sense",
        r"|understand|figure|find|decide|remember|get|plan|see)\w+ \w",
    ),
    _rule(
        "state",
        r"i (?:\w+ )?(?:want|plan|intend|aim|hope) to ",
        r"(?!hear|know|see|say|thank|ask|tell|let|make sure|share (?:it|this|that))\w+ \w",
    ),
    _rule(
        "state",
        r"(?:i am|we are) (?:\w+ )?going to (?!bed\b|say|tell|ask|let|check|hang|(?:make|get|do|nail|keep) ",
        r"|(?:definitely )?try (?:out )?(?:some of |one of )?(?:it|that|this|those|these|them))\w+ \w",
    ),
    _rule("state", rf"i (?:\w+ )?have (?:an? |the |my |this )(?:\w+ ){{0,2}}?{_AILMENTS}\b"),
    # the speaker's people and things
    _rule("trait", rf"my (?:\w+ )?(?:{_PEOPLE}|{_CIRCLE}|{_THINGS})(?: \w+)? (?:is|are|has|have) \w"),
    _rule(
        "trait",
        rf"my (?:\w+ )?(?:{_PEOPLE}|{_CIRCLE})(?: \w+)? ",
        r"(?:loves?|likes?|hates?|works?|lives?|enjoys?|plays?|calls?|prefers?|wants?|needs?|goes|go|teach(?:es)?",
        r"|stud(?:y|ies)|runs?|owns?) \w",
    ),
    _rule(
        "fact",
        rf"my (?:\w+ )?(?:{_PEOPLE}|{_CIRCLE}|{_THINGS})(?: and (?:i|my \w+))?(?: \w+)? ",
        rf"(?!need\b)(?:{_PAST}|died|\w{{2,}}ed|passed away|were)\b",
    ),
    # what happened to the speaker
    _rule("fact", rf"(?:i|we|my \w+ and i) (?:{_ADVERBS}|had )(?!{_NO_EVENT}\b)(?:{_PAST}|\w{{2,}}ed) \w"),
    _rule(
        "fact",
        rf"{_I_WE} have {_ADVERBS}(?:ever |never |not |been )*",
        rf"(?!{_NO_EVENT}\b|got\b|been\b)(?:{_DONE}|\w{{2,}}ed) \w",
        rf"|{_I_WE} have (?:never |just |recently )?been to \w",
    ),
    _rule(
        "fact",
        r"(?:i|we) (?:was|were) ",
        r"(?!thinking|wondering|considering|supposed|going|trying|looking|hoping|in it\b|there\b)",
        rf"(?:\w+ )?{_HAPPENED} \w",
    ),
    _rule(
        "fact",
        rf"{_I_WE} did not (?:\w+ )?",
        r"(?:get|go|make|win|finish|pass|sleep|eat|grow|have|attend|buy|travel|play|learn|start) \w",
    ),
    _rule("fact", r"i used to (?!think|believe|say|wonder)\w+"),
)
"""Each kind of note with the clauses that make one."""
