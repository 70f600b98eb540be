"""Lists of words for finding names in English news: titles, particles, days, peoples, words of firms and places."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words(
    """Mr Mr. Mrs Mrs. Ms Ms. Miss Messrs. Dr Dr. Prof Prof. Professor Rev Rev. Reverend Hon. Sir Dame Lady Lord
    Baroness President Premier Minister Chancellor Secretary Governor Gov Gov. Senator Sen Sen. Sens. Rep Rep. Reps.
    Representative Congressman Congresswoman Councilman Councilwoman Alderman Mayor Speaker Ambassador Envoy Judge
    Justice Prosecutor King Queen Prince Princess Duke Duchess Emperor Sultan Emir Pope Cardinal Archbishop Bishop
    Pastor Imam Sheikh Ayatollah Mullah Rabbi General Gen Gen. Colonel Col Col. Major Maj. Captain Capt Capt. Lt Lt.
    Lieutenant Sgt Sgt. Sergeant Cpl. Corporal Pvt. Private Pfc. Admiral Adm. Commander Cmdr. Commissioner Inspector
    Superintendent Supt. Detective Det. Sheriff Officer Constable Chairman Chairwoman Chief CEO Coach Director
    Editor Manager Spokesman Spokeswoman Analyst Correspondent Lawyer Attorney Actor Actress Singer Author"""
)
"""Titles before a name are not part of it, and a sign of a person."""

BEFORE_TITLES = _words(
    """Vice Prime Deputy Acting Former Interim Foreign Defense Defence Interior Finance Health Justice Energy Trade
    Press Senior Executive Attorney Chief Brigadier Brig. Major Maj. Lieutenant Lt. Rear Staff Supreme Grand Crown
    Majority Minority Campaign Communications Opposition Special Home Shadow Cabinet Labor Labour Treasury Education
    Environment Transport Assistant Under First Managing Head"""
)
"""Words that belong to a title directly after them: Foreign Minister, Press Secretary."""

OFFICES = _words("State Defense Defence Staff Commerce Labor Energy Education Transportation Police Justice")
"""No names after Secretary of, Chief of, Minister of."""

PARTICLES = _words("al bin ibn da das de del della den der di dos du el la las le los ter van von und y &")
"""Small words that join two parts of a name: Osama bin Laden, Rio de Janeiro, AT & T."""

HEADS = _words(
    """Academy Agency Army Association Bank Bay Board Bureau Cape Center Centers Centre Chamber Chiefs Children Church
    City Coalition College Commission Committee Confederation Conference Congress Corps Council Court Daughters Day
    Declaration Department Districts Doctors Duchy Empire Faculty Federation Festival Fellowship Foundation Friends
    Front Fund Game Garden Government Gulf Hall Horn House Institute Institutes Institution Isle Isles Kingdom
    Knights League Legion Lord Ministry Monument Mount Movement Museum Museums Office Organisation Organization
    Palace Parliament Party Port Republic School Schools Sea Secretariat Sisters Society Sons State States Statue
    Strait Straits Supreme Temple Tower Trust Union University Valley War"""
)
"""After these words, `of` or `for` continues the name: Bank of England, Centers for Disease Control."""

NOT_PERSONS = HEADS | _words(
    """Administration Air Airlines Airport Airways Arena Authority Avenue Awards Beach Boulevard Bridge Broadcasting
    Brothers Bros. Building Canal Capital Castle Cathedral Championship Championships Channel Club Co Co.
    Communications Company Corp Corp. Corporation County Creek Cup District Drive East Electric Energy Enterprises
    Express Falls Football Force Forces Forest Fort Games Gazette Globe Group Guard Guards Harbor Herald Highway
    Hill Hills Holdings Hospital Hotel Inc Inc. Industries International Island Islands Journal Laboratory Lake Law
    Limited Ltd Ltd. Mall Market Medical Memorial Mills Motors Mountain Mountains National Navy Network News North
    Northern Ocean Olympics Open Orchestra Pacific Park Partners Peninsula Plaza Police Post Press Prison Prize
    Radio Records Reserve Resort Restaurant Review River Road Security Senate Series Service Services South Southern
    Square Stadium Station Street Studio Studios Summit Systems Telegraph Television Theater Theatre Times Today
    Tour Town Township Tribune United Village West Western World Assembly Act Agreement Treaty Prime Ministers
    Airbase Base Camp Zone Strip Valley Desert Sox Yankees Republicans Democrats State Attorney"""
)
"""A name with one of these words is a firm, a place or an institution."""

COMPASS = _words(
    "North South East West Northern Southern Eastern Western Central New San Santa Los Las El Saint St. Great Old"
)
"""A name with one of these first words differs from its ending: South Korea is not Korea."""

_MONTHS = "January February March April May June July August September October November December"
CALENDAR = _words(
    f"""{_MONTHS} Jan. Feb Feb. Mar. Apr Apr. Aug Aug. Sept Sept. Oct Oct. Nov Nov. Dec Dec. Monday Mondays Tuesday
    Tuesdays Wednesday Wednesdays Thursday Thursdays Friday Fridays Saturday Saturdays Sunday Sundays"""
)

NO_NAMES = _words(
    """I I. A OK O.K. TV AM PM A.M. P.M. DNA DVD CD GMT EST EDT PST PDT ID PhD Ph.D. M.D. B.A. SUV -LRB- -RRB- NEW
    UPDATE EXCLUSIVE BREAKING VIDEO PHOTO PHOTOS No No. Nos."""
)
"""Capitalised words that are no names."""

SUFFIXES = _words("Jr Jr. Sr Sr. II III IV Esq.")
"""Words after a last name."""

_PEOPLES = """Afghan:Afghanistan Afghans:Afghanistan Albanian:Albania Algerian:Algeria American:America
    Americans:America Argentine:Argentina Argentinian:Argentina Armenian:Armenia Australian:Australia
    Australians:Australia Austrian:Austria Bahraini:Bahrain Bangladeshi:Bangladesh Belgian:Belgium
    Bolivian:Bolivia Bosnian:Bosnia Brazilian:Brazil Briton:Britain Britons:Britain British:Britain
    Bulgarian:Bulgaria Burmese:Burma Cambodian:Cambodia Canadian:Canada Canadians:Canada Chilean:Chile
    Chinese:China Colombian:Colombia Congolese:Congo Croatian:Croatia Cuban:Cuba Cubans:Cuba
    Cypriot:Cyprus Czech:Czechia Dane:Denmark Danish:Denmark Dutch:Netherlands Egyptian:Egypt
    Egyptians:Egypt English:England Estonian:Estonia Ethiopian:Ethiopia European:Europe Europeans:Europe
    Filipino:Philippines Finnish:Finland French:France Georgian:Georgia German:Germany Germans:Germany
    Ghanaian:Ghana Greek:Greece Greeks:Greece Haitian:Haiti Hungarian:Hungary Icelandic:Iceland
    Indian:India Indonesian:Indonesia Iranian:Iran Iranians:Iran Iraqi:Iraq Iraqis:Iraq Irish:Ireland
    Israeli:Israel Israelis:Israel Italian:Italy Italians:Italy Jamaican:Jamaica Japanese:Japan
    Jordanian:Jordan Kenyan:Kenya Kuwaiti:Kuwait Latvian:Latvia Lebanese:Lebanon Liberian:Liberia
    Libyan:Libya Lithuanian:Lithuania Malaysian:Malaysia Mexican:Mexico Mexicans:Mexico Moroccan:Morocco
    Nepalese:Nepal Nigerian:Nigeria Norwegian:Norway Pakistani:Pakistan Pakistanis:Pakistan
    Palestinian:Palestine Panamanian:Panama Peruvian:Peru Polish:Poland Portuguese:Portugal
    Romanian:Romania Russian:Russia Russians:Russia Rwandan:Rwanda Saudi:Saudi_Arabia Scottish:Scotland
    Serbian:Serbia Slovak:Slovakia Slovenian:Slovenia Somali:Somalia Spanish:Spain Spaniard:Spain
    Sudanese:Sudan Swede:Sweden Swedish:Sweden Swiss:Switzerland Syrian:Syria Syrians:Syria
    Taiwanese:Taiwan Thai:Thailand Tunisian:Tunisia Turkish:Turkey Turks:Turkey Ugandan:Uganda
    Ukrainian:Ukraine Ukrainians:Ukraine Venezuelan:Venezuela Vietnamese:Vietnam Welsh:Wales
    Yemeni:Yemen Zimbabwean:Zimbabwe"""
PEOPLES = {people: tuple(land.split("_")) for people, _, land in (pair.partition(":") for pair in _PEOPLES.split())}
"""Countries by their people or adjective; in CNN's questions both are one entity."""

PLACES = frozenset(word for land in PEOPLES.values() for word in land) | _words(
    """Africa Asia Arab Arabs Muslim Muslims Islamic Christian Jewish Jews Washington London Paris Berlin Moscow
    Beijing Tokyo Jerusalem Baghdad Kabul Tehran Cairo Damascus Brussels Geneva Chicago Boston Atlanta Houston
    Dallas Miami Philadelphia California Texas Florida Virginia Carolina Ohio Michigan Illinois Pennsylvania Arizona
    Nevada Oregon Colorado Iowa Kansas Louisiana Alabama Tennessee Kentucky Massachusetts Connecticut Maryland
    Minnesota Wisconsin Missouri Utah Hawaii Alaska York Angeles Francisco Singapore Qatar Republican Democrat
    Democratic Congress Parliament Internet Facebook Twitter Google Microsoft Taliban Hamas Hezbollah Reuters"""
)
"""Frequent names of one word that are no persons; York and Francisco are here for New York and San Francisco."""

STARTERS = _words(
    """a about above according across additionally after afterward again against ahead all almost along already also
    although always amid among an and another any anyone anything anyway apart are around as ask asked at away back
    based because before behind being below besides best better between beyond both but by can clearly come consider
    could critics dead dear despite did do does doctors down due during each earlier early eight either eleven else
    even eventually every everybody everyone everything except experts families few finally first five following for
    former four from further furthermore get give given go good great had half has have having he hello help hence
    her here hers his hours how however hundreds i if in indeed initially inside instead into is it its just keep
    last lastly late later latest lawyers less let like likewise long look lots made make many maybe me meantime
    meanwhile men military million millions more moreover most much my near nearby nearly neither never nevertheless
    new next nine no nobody none nonetheless nor not nothing now of off officers official officials often oh old on
    once one only or other others otherwise our out outside over overall parents part people perhaps please police
    previously prosecutors protesters put rather recent recently remember reporters rescuers researchers residents
    right said say scientists second see seven several shall she should similarly since six so soldiers some
    somebody someone something sometimes soon sources still students such take ten thank thanks that the their then
    there thereafter therefore these they things think this those though thousands three through throughout thus
    till to today together tomorrow tonight too top toward towards troops twelve twenty two under unless unlike
    until up upon us very victims violence was watch way we well were what whatever when whenever where whereas
    wherever whether which while who whoever whom whose why will with within without witnesses women workers would
    yes yesterday yet you young your"""
)
"""Common first words of sentences, in lower case; capitalised there, they are no names."""

GIVEN = _words(
    """Aaron Abdul Abdullah Abu Adam Adrian Ahmed Alan Albert Alejandro Alex Alexander Alexandra Alexei Alfred Ali
    Alice Amanda Amy Ana Anatoly Andre Andrea Andrei Andrew Andy Angela Angelina Ann Anna Anne Anthony Antonio
    Arnold Arthur Ashley Augusto Barack Barbara Ben Benjamin Bernard Bill Billy Bob Boris Brad Brandon Brenda Brian
    Britney Bruce Bryan Cameron Carl Carla Carlos Carol Caroline Catherine Charles Charlie Charlotte Cheryl Chris
    Christian Christina Christine Christopher Claire Claudia Colin Cristiano Craig Dan Daniel David Dawn Dean
    Deborah Dennis Diana Diane Diego Dick Dmitry Don Donald Donna Doug Douglas Drew Ed Eduardo Edward Elena
    Elizabeth Ellen Emily Emma Eric Erin Evan Eva Felipe Fernando Fidel Francis Francisco Francois Frank Fred Gary
    Gareth Geoffrey George Gerald Gerard Giorgio Glenn Gordon Grace Graham Greg Gregory Hamid Hank Hannah Harold
    Harry Hassan Heather Helen Henry Hillary Howard Hugh Hugo Hussein Ian Ibrahim Igor Isabel Ivan Jack Jackie Jacob
    Jacques James Jamie Jan Jane Janet Jason Javier Jay Jean Jeff Jeffrey Jennifer Jeremy Jerry Jesse Jessica Jill
    Jim Jimmy Joan Joe Joel Johan Johannes John Jon Jonathan Jorge Jose Joseph Josh Joshua Juan Judith Julia Julian
    Julie Julio Justin Karen Karl Kate Katherine Kathleen Kathy Katie Keith Kelly Ken Kenneth Kevin Khaled Kim Kofi
    Kurt Larry Laura Lauren Lee Leon Leonardo Lewis Linda Lindsay Lionel Lisa Louis Louise Lucas Lucy Luis Luke
    Madonna Marco Margaret Maria Marie Mario Mark Martha Martin Mary Matt Matthew Maurice Max Megan Melissa Michael
    Michel Michelle Miguel Mike Mikhail Mitt Mohamed Mohammad Mohammed Monica Muammar Muhammad Mustafa Nancy Naomi
    Natalie Neil Nelson Nicholas Nick Nicola Nicolas Nicole Nigel Nikolai Noah Norman Oliver Omar Oprah Oscar Osama
    Pablo Pamela Patricia Patrick Paul Paula Pedro Peter Phil Philip Pierre Rachel Rafael Ralph Raul Ray Raymond
    Rebecca Ricardo Richard Rick Rob Robert Roberto Robin Rodrigo Roger Roman Ron Ronald Rosa Ross Roy Rupert
    Russell Ruth Ryan Saddam Sam Samantha Samuel Sandra Sara Sarah Scott Sean Sebastian Sergei Sergio Serena Shane
    Sharon Simon Sofia Stefan Stella Stephanie Stephen Steve Steven Stuart Susan Tamara Tariq Ted Teresa Terry
    Thomas Tiger Tim Timothy Tina Todd Tom Tony Tracy Tyler Ursula Valerie Vanessa Venus Victor Victoria Vincent
    Vladimir Walter Warren Wayne Wendy William Xavier Yasser Yulia Yuri Yusuf Zachary Ahmad Claudio Erik Evo Hans
    Hosni Ingrid Irina Karim Klaus Lars Lena Mahmoud Marcus Natalia Nina Nuri Olga Recep Silvio Svetlana Tatiana"""
)
"""Frequent first names in English news: before another name word, a sign of a person."""
