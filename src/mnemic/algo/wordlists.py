"""Closed classes of words, for sentence splitting and cue extraction; all in lower case, apostrophes straight."""

from __future__ import annotations


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


DETERMINERS = _words(
    "a an the this that these those my your his her its our their whose some any each every either",
    "neither another all both",
)
"""What a noun phrase may begin with without being about something else."""

PRONOUNS = _words(
    "i me mine myself you yours yourself yourselves he him himself she hers herself it itself we us ours",
    "ourselves they them theirs themselves one ones who whom what which someone somebody something anyone",
    "anybody anything everyone everybody everything nobody nothing none y'all u ya user assistant",
)

CONTRACTIONS = _words(
    "i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll",
    "we're we've we'd we'll they're they've they'd they'll that's that'd that'll there's there're here's",
    "what's what're who's who'd where's when's why's how's how'd let's isn't aren't wasn't weren't don't",
    "doesn't didn't can't couldn't won't wouldn't shouldn't haven't hasn't hadn't mustn't needn't ain't",
    "ma'am o'clock im ive dont cant didnt wont thats whats lets youre theyre gonna wanna gotta kinda",
    "sorta lemme gimme cuz coz cos tho thru til 'em",
)

FUNCTION_WORDS = _words(
    "about above across after against along amid among around as at away back before behind below beneath",
    "beside besides between beyond by despite down during except for from in inside into like near of off",
    "on onto out outside over past per since through throughout till to toward towards under until unto",
    "up upon via with within without and or but nor so yet if then else than because although though",
    "while whereas unless whether when whenever where wherever why how however not no yes am is are was",
    "were be been being do does did doing done have has had having can could may might must shall should",
    "will would ought there here too also just only even ever never again already almost always often",
    "sometimes usually still very really quite rather much many more most less least few fewer several",
    "such same other others own else well now today tomorrow yesterday tonight once twice ago etc vs",
)

NUMBER_WORDS = _words(
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen",
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds",
    "thousand thousands million millions billion first second third fourth fifth sixth last next half",
    "dozen dozens couple",
)

INTERJECTIONS = _words(
    "hi hey hello hiya bye goodbye ok okay oh ah aw aww awww wow whoa woah yay yeah yep yup nope nah hm",
    "hmm mm uh um ugh oops lol haha hahaha omg btw congrats congratulations thanks thank thx please pls",
    "sorry cheers welcome gosh phew yikes damn dude man guys",
)

FOREIGN = _words(
    # Articles, pronouns, prepositions and auxiliaries of languages written in Latin letters; none is an English word.
    "el los las una unos unas del al y que en por para con su sus es está fue pero como más muy yo tú",
    "él ella mi le les des du et est une dans pour avec sur qui ne pas je tu il elle nous vous ils elles",
    "ce cette ces mais où très der das dem den ein eine einen einem einer und ist sind nicht ich wir ihr",
    "mit auf für über von zu im auch aber wie noch il lo gli della di che è sono non per anche ma come nel",
    "alla um uma da dos das não em com foi são eu",
    # Russian and Ukrainian, Greek
    "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее её мне было вот",
    "от меня о из ему мы они это мой моя мои был была были есть для или мой наш при до если уже когда где",
    "кто і й та що він вона ми ви на και το η ο τα να της του με σε για από είναι δεν που μου",
    # Arabic and Persian, Hebrew
    "في من على إلى عن مع هذا هذه ذلك التي الذي أن إن كان كانت هو هي أنا نحن ما لا لم لن قد و يا هل ثم أو",
    "بعد قبل كل و در به از که این آن را با است برای من تو او ما شما هم של את על עם אני אתה היא הוא זה זאת",
    "לא כן גם כי אבל או אם מה מי יש אין היה הייתה אל הם אנחנו שלי שלך שלו שלה שלנו",
    # Korean, Japanese
    "나 너 저 우리 그 그녀 내 제 네 이 것 수 거 오늘 私 僕 俺 彼 彼女",
    # Hindi
    "है हैं था थी थे का की के को में से पर और यह वह मैं हम तुम आप ने भी नहीं तो ही एक कि जो हो हूँ हूं",
    "मेरा मेरी मेरे रहा रही रहे",
)
"""Function words of other languages: not a stop list of each, only what would drown the rest."""

STOP_WORDS = DETERMINERS | PRONOUNS | CONTRACTIONS | FUNCTION_WORDS | NUMBER_WORDS | INTERJECTIONS | FOREIGN
"""Words that alone are no cue (methods.md C5)."""

GENERIC = _words(
    # verbs of every chat
    "go goes going went gone come coming came get got gotten give gives giving gave given take taking",
    "took taken make making made let put keep kept say said tell told ask know knew known think thought",
    "feel felt see seeing saw seen look hear heard find found want need like love loving hope hoping",
    "hoped wish try tries trying tried seem start begin began end happen help use uses using used mean",
    "means meant show shown become becoming became turn leave left bring bringing brought talk sound wait",
    "guess bet believe enjoy agree appreciate sure wonder share sharing work live living able gonna doing",
    "having being sit sat stand stood hold held lay lying wear wore fill",
    # adjectives and adverbs that fit everything
    "good better best great nice awesome amazing cool fun funny glad happy excited exciting lovely",
    "wonderful fantastic incredible beautiful pretty cute sweet big bigger little long new bad worse",
    "worst real true right wrong important whole interesting favorite favourite kind super totally",
    "definitely absolutely actually probably maybe perhaps honestly basically literally especially",
    "exactly recently lately finally soon later together instead anyway forever everywhere somewhere",
    "anywhere enough bit lot bunch ton",
    # nouns that say nothing
    "thing stuff way time day week month year kind sort type part people person example matter photo pic",
    "picture image photography",
)
"""Words so general that as a cue they would tie everything to everything; they also separate phrases.

Forms that ``algo.inflection`` reduces to one of them are left out.
"""

NOT_ADVERBS = _words(
    "family italy sicily july june belly jelly lily emily sally molly polly holly kelly billy willy tally",
    "rally ally assembly anomaly butterfly dragonfly fly supply reply bully monopoly gully folly doily",
    "homily daily weekly monthly yearly elderly friendly silly ugly holy jolly curly hilly wooly woolly",
    "smelly chilly",
)
"""Words in -ly that are no adverbs."""

UNINFLECTED = _words(
    "beloved underprivileged limited united",
    "chaos trans congrats starbucks sapiens graphics robotics analytics clothes unexpected interesting willing outing",
    "always perhaps news lens series species means thanks christmas texas kansas vegas paris athens wales",
    "james charles thomas jesus atlas canvas gas bus plus bias diabetes physics politics mathematics",
    "economics athletics gymnastics tennis chess yes this his is was has does goes during morning evening",
    "nothing something anything everything ceiling pudding wedding sibling siblings darling duckling",
    "earring offspring inning herring string spring clothing ring swing building being king thing red bed",
    "shed sled hundred sacred naked wicked kindred indeed need seed feed speed breed bleed greed weed",
    "reed deed steed embed sherbed biped moped towards afterwards glasses jeans pants shorts pajamas",
    "scissors headquarters overseas sometimes upstairs downstairs outdoors indoors besides hers ours",
    "yours theirs whereas alias iris virus focus campus bonus census status corpus genius circus cactus",
    "octopus",
)
"""Words whose ending only looks like that of a plural or a verb form."""

ABBREVIATIONS_BEFORE_NAMES = _words(
    "adm approx assoc attn ave blvd brig capt cf cmdr col dept dr e.g eg esp feat fr ft gen gov hon i.e",
    "ie lt maj messrs mmes mr mrs ms mt prof rep rev sen sgt sr sra sta ste st supt viz vs z.b d.h bzw ca",
)
"""Abbreviations that never end a sentence: a name or an explanation follows."""

ABBREVIATIONS_BEFORE_NUMBERS = _words(
    "no nos nr p pp fig figs vol ch chap sec art eq pt jan feb mar apr jun jul aug sep sept oct nov dec",
)
"""Words and abbreviations whose dot ends no sentence when a number follows."""

ABBREVIATIONS_AT_END = _words("a.m p.m am pm etc inc ltd co corp jr al ph.d b.c a.d bros est misc")
"""Abbreviations that end a sentence when the next word has a capital."""

SENTENCE_STARTERS = _words(
    "a after all also an and another any are as at because before but by can could did do does during",
    "each even every few first for from had has have he her here his how however i i'd i'll i'm i've if",
    "in is it it's its last let many maybe most my next no not now of on once one or our perhaps please",
    "she since so some sometimes still such thanks that that's the their then there there's these they",
    "this those though to today tomorrow unless until was we we're well were what when where which while",
    "who why will with would yes yesterday yet you your",
)
"""Words that after "U.S." or "J." begin a sentence rather than go on with a name."""

IRREGULAR_PASTS = _words(
    "ate bit blew bought broke brought built caught chose cost cut drank drew drove fed fell fought flew forgot froze",
    "grew hid hurt knit lent lost met paid quit rang rode rose sang sent shot sold spoke stole stuck swam swung taught",
    "threw told understood went woke won wore wrote",
)
"""Verbs in the past without -ed; like those in -ed they separate phrases."""

NAME_CONNECTORS = _words("of the de la del di da du van von der den y el al bin ibn")
"""Words in lower case that may stand inside a name: University of Oregon, Lord of the Rings."""

NAME_OPENERS = _words("new old great big little high grand north south east west saint san santa los las la el")
"""Words too general for a cue that at the beginning of a sentence may nevertheless open a name: New York."""

MONTHS = _words(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug",
    "sep sept oct nov dec",
)
