package when

import (
	"slices"
	"strconv"
	"strings"
)

// A language is the words of one language for times. A field is a list of groups
// with bars between them, a group a list of forms with commas between them. A form
// is one word or several, without apostrophes. A form that ends in ? has other
// meanings, in this language or another, and counts only next to a year, a day or
// a preposition of its language.
type language struct {
	name     string
	months   string // twelve
	weekdays string // seven, from Monday
	seasons  string // spring, summer, autumn, winter
	units    string // minute, hour, day, week, month, year, weekend, quarter
	parts    string // morning, afternoon, evening, night
	joins    bool   // writes Friday evening as one word
	edges    string // beginning, middle, end; with their "of"
	turns    string // last, this, next; a last that is a window up to now
	ago      string // before the number, behind it
	numbers  string // 1 to 10; 11 is a couple, 12 a few
	links    string // in, on, of, the
	bounds   string // since, until, before, after
	every    string
	ranges   string // between, and; also from, to
	feasts   string // Christmas, New Year, New Year's Eve, Halloween, Easter

	// Words that show a text to be of the language, for its phrases with ?.
	speech string

	// Whole phrases with what they mean: a unit (d, w, m, y) with its distance
	// and a part of the day (m, a, e, n), a window (D7), or nothing (-).
	phrases string
}

// languageTable are the languages whose time words are known.
var languageTable = []language{
	{
		name:     "en",
		months:   "january,jan?|february,feb?|march?,mar?|april?,apr?|may?|june?,jun?|july,jul?|august?,aug?|september,sept?,sep?|october,oct?|november,nov?|december,dec?",
		weekdays: "monday,mon?|tuesday,tue?,tues?|wednesday,wed?|thursday,thu?,thur?,thurs?|friday,fri?|saturday,sat?|sunday,sun?",
		seasons:  "spring?,springtime|summer,summertime|autumn,fall?|winter,wintertime",
		units:    "minute,minutes,min,mins|hour,hours,hr,hrs|day,days|week,weeks,wk,wks|month,months|year,years,yr,yrs|weekend|quarter,quarters",
		parts:    "morning|afternoon|evening|night",
		edges:    "early,beginning of,start of,begin of,first half of,first days of,first week of,early in|mid,middle of,mid of,halfway through|late,end of,last days of,final days of,last week of,second half of,late in,tail end of",
		turns:    "last,previous|this,current|next,coming,upcoming|past",
		ago:      "|ago,back",
		numbers:  "one,a,an|two|three|four|five|six|seven|eight|nine|ten|couple,couple of,a couple,a couple of,one or two|few,a few,several,some",
		links:    "in,during,around,through,throughout|on,over,at|of,in|the",
		bounds:   "since,ever since|until,till,by|before,prior to|after",
		every:    "every,each,any",
		ranges:   "between,from|and,to,until,till,through",
		feasts:   "christmas,xmas|new year,new years|new years eve,new year s eve|halloween|easter",
		phrases: "today=d0,yesterday=d-1,tonight=d0n,last night=d-1n,this morning=d0m,this afternoon=d0a,this evening=d0e,yesterday night=d-1n," +
			"the day before yesterday=d-2,day before yesterday=d-2,tomorrow=d1,day after tomorrow=d2,the day after tomorrow=d2," +
			"earlier today=d0,earlier this week=w0,earlier this month=m0,earlier this year=y0," +
			"the week before last=w-2,week before last=w-2,the month before last=m-2,month before last=m-2,the year before last=y-2,year before last=y-2,last last week=w-2,last days=D7,past days=D7,last weeks=D42,past weeks=D42,last months=D240,past months=D240," +
			"the last time=-,last time=-,this time=-,next time=-,good friday=-,black friday=-,cyber monday=-,ash wednesday=-,casual friday=-,happy friday=-,blue monday=-,super sunday=-," +
			"happy new year=-,a new year=-,merry christmas=-,march madness=-,christmas tree=-,easter egg=-,easter eggs=-,day to day=-,to this day=-",
	},
	{
		name:     "de",
		months:   "januar,jänner,jan?|februar,feber,feb?|märz?,maerz?,mrz?|april?,apr?|mai?|juni,jun?|juli?,jul?|august?,aug?|september,sept?,sep?|oktober,okt?|november,nov?|dezember,dez?",
		weekdays: "montag|dienstag|mittwoch|donnerstag|freitag|samstag,sonnabend|sonntag",
		seasons:  "frühling,frühjahr|sommer|herbst|winter",
		units:    "minute,minuten|stunde,stunden|tag,tage,tagen|woche,wochen|monat,monate,monaten,monats|jahr,jahre,jahren,jahres|wochenende|quartal",
		parts:    "morgen,früh,vormittag,morgens|nachmittag,nachmittags|abend,abends|nacht,nachts",
		joins:    true,
		edges:    "anfang,beginn,anfang des,anfang vom|mitte,mitte des|ende,ende des,ende vom",
		turns:    "letzte,letzten,letzter,letztes,letztem,vorige,vorigen,voriger,voriges,vergangene,vergangenen,vergangenes|diese,diesen,dieser,dieses,diesem|nächste,nächsten,nächster,nächstes,kommende,kommenden|",
		ago:      "vor|",
		numbers:  "ein,eine,einer,einem,einen,eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn||ein paar,einige,einigen,mehreren,wenigen",
		links:    "im,in,über,zu,an,um|am,vom,den,dem|des,vom,von|der,die,das",
		bounds:   "seit,ab,seit dem,seit der|bis,bis zum,bis ende|vor,vor dem,vor der|nach,nach dem",
		every:    "jeden,jede,jedes",
		ranges:   "zwischen,von|und,bis",
		feasts:   "weihnachten|neujahr|silvester|halloween|ostern",
		phrases: "heute=d0,gestern=d-1,vorgestern=d-2,morgen=d1,übermorgen=d2,letzte nacht=d-1n,gestern nacht=d-1n,vorletzte woche=w-2,vorletzten monat=m-2,vorletztes jahr=y-2," +
			"letzten tagen=D7,letzten wochen=D42,letzten monaten=D240,heuer=y0,jahreswechsel=f1",
	},
	{
		name:     "nl",
		months:   "januari,jan?|februari,feb?|maart,mrt?|april?,apr?|mei?|juni,jun?|juli?,jul?|augustus?,aug?|september,sept?,sep?|oktober,okt?|november,nov?|december,dec?",
		weekdays: "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
		seasons:  "lente,voorjaar|zomer|herfst,najaar|winter",
		units:    "minuut,minuten|uur,uren|dag,dagen|week,weken|maand,maanden|jaar,jaren|weekend,weekeinde|kwartaal",
		parts:    "ochtend,morgen,voormiddag|middag,namiddag|avond|nacht",
		joins:    true,
		edges:    "begin,begin van|half,halverwege,medio,midden|eind,einde,eind van,einde van",
		turns:    "vorige,vorig,afgelopen,laatste,verleden|deze,dit|volgende,volgend,komende|",
		ago:      "|geleden",
		numbers:  "een,één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien||een paar,enkele,paar",
		links:    "in,tijdens,rond,met|op|van|de,het",
		bounds:   "sinds,vanaf|tot|voor|na",
		every:    "elke,iedere",
		ranges:   "tussen,van|en,tot",
		feasts:   "kerst,kerstmis|nieuwjaar|oudjaar|halloween|pasen",
		phrases: "vandaag=d0,gisteren=d-1,gister=d-1,eergisteren=d-2,morgen=d1,overmorgen=d2,vanochtend=d0m,vanmorgen=d0m,vanmiddag=d0a,vanavond=d0e,vannacht=d-1n," +
			"gisterochtend=d-1m,gistermiddag=d-1a,gisteravond=d-1e,afgelopen nacht=d-1n,afgelopen dagen=D7,afgelopen weken=D42,afgelopen maanden=D240",
	},
	{
		name:     "fr",
		months:   "janvier,janv?|février,fevr?|mars?|avril?,avr?|mai?|juin|juillet|août|septembre|octobre|novembre|décembre",
		weekdays: "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
		seasons:  "printemps|été?|automne|hiver",
		units:    "minute,minutes|heure,heures|jour,jours|semaine,semaines|mois|an,ans,année,années|weekend,week end|trimestre",
		parts:    "matin,matinée|après midi|soir,soirée|nuit",
		edges:    "début,au début de,au début du,début du mois de|mi,à la mi,milieu|fin,à la fin de,à la fin du,à la fin du mois de,fin du mois de",
		turns:    "dernier,dernière,derniers,dernières,passé,passée|ce,cet,cette|prochain,prochaine|",
		ago:      "il y a,y a|",
		numbers:  "un,une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|un ou deux,deux ou trois|quelques,plusieurs",
		links:    "en,au,dans,pendant,courant,durant,à,vers|le,du,ce|de,d,du|le,la,l,les",
		bounds:   "depuis|jusqu à,jusqu au,jusqu en|avant|après",
		every:    "chaque,tous les",
		ranges:   "entre,de|et,à",
		feasts:   "noël|nouvel an|saint sylvestre|halloween|pâques",
		speech:   "qui,quoi,que,qu,quel,quelle,est,pas,avec,pour,dans,les,pourquoi,comment,quand,sur,avait,ont",
		phrases: "aujourd hui=d0,hier?=d-1,hier soir=d-1e,hier matin=d-1m,hier après midi=d-1a,avant hier=d-2,avanthier=d-2,demain=d1,après demain=d2,ce matin=d0m,cet après midi=d0a,ce soir=d0e," +
			"cette nuit=d-1n,la nuit dernière=d-1n,avant dernière semaine=w-2,derniers jours=D7,dernières semaines=D42,derniers mois=D240",
	},
	{
		name:     "es",
		months:   "enero|febrero|marzo|abril?|mayo?|junio|julio?|agosto|septiembre,setiembre|octubre|noviembre|diciembre",
		weekdays: "lunes|martes|miércoles|jueves|viernes|sábado|domingo?",
		seasons:  "primavera|verano|otoño|invierno",
		units:    "minuto,minutos|hora,horas|día,días|semana,semanas|mes,meses|año,años|fin de semana|trimestre",
		parts:    "mañana|tarde|noche tarde|noche",
		edges:    "a principios de,principios de,a comienzos de,comienzos de,inicio de,inicios de|a mediados de,mediados de|a finales de,finales de,a fines de,fines de,final de",
		turns:    "pasado,pasada,último,última,últimos,últimas|este,esta|próximo,próxima|",
		ago:      "hace|atrás",
		numbers:  "un,una,uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|un par de|unos,unas,algunos,algunas,varios,varias",
		links:    "en,durante,por,a|el|de,del|la,los,las,el",
		bounds:   "desde|hasta|antes de,antes del|después de,después del,tras",
		every:    "cada,todos los",
		ranges:   "entre,de|y,a",
		feasts:   "navidad,navidades|año nuevo|nochevieja|halloween|semana santa",
		phrases: "hoy=d0,ayer=d-1,anteayer=d-2,antier=d-2,antes de ayer=d-2,anoche=d-1n,anteanoche=d-2n,pasado mañana=d2,esta mañana=d0m,esta tarde=d0a,esta noche=d0n," +
			"semana que viene=w1,mes que viene=m1,últimos días=D7,últimas semanas=D42,últimos meses=D240",
	},
	{
		name:     "it",
		months:   "gennaio|febbraio|marzo|aprile?|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
		weekdays: "lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica",
		seasons:  "primavera|estate?|autunno|inverno",
		units:    "minuto,minuti|ora,ore|giorno,giorni|settimana,settimane|mese,mesi|anno,anni|weekend,fine settimana|trimestre",
		parts:    "mattina,mattino|pomeriggio|sera|notte",
		edges:    "inizio,inizi di,all inizio di|metà,metà di|fine,fine di,alla fine di",
		turns:    "scorso,scorsa,scorsi,scorse,passato,passata,ultimo,ultima,ultimi,ultime|questo,questa,quest|prossimo,prossima|",
		ago:      "|fa",
		numbers:  "un,una,uno|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|un paio di|alcuni,alcune,qualche,pochi",
		links:    "in,a,nel,nell,nella,durante,ad,per|il|di,del,dell,d|il,lo,la,l,i,gli,le",
		bounds:   "da,dal,dallo,dalla|fino a,entro|prima di,prima del|dopo",
		every:    "ogni",
		ranges:   "tra,fra,da|e,a",
		feasts:   "natale?|capodanno|san silvestro|halloween|pasqua",
		phrases: "oggi=d0,ieri=d-1,ieri sera=d-1e,ieri notte=d-1n,l altro ieri=d-2,altro ieri=d-2,avantieri=d-2,domani=d1,dopodomani=d2,stamattina=d0m,stamani=d0m,stasera=d0e,stanotte=d-1n," +
			"ultimi giorni=D7,ultime settimane=D42,ultimi mesi=D240",
	},
	{
		name:     "pt",
		months:   "janeiro|fevereiro|março?|abril?|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
		weekdays: "segunda feira,segunda?|terça feira,terça?|quarta feira,quarta?|quinta feira,quinta?|sexta feira,sexta?|sábado|domingo?",
		seasons:  "primavera|verão|outono|inverno",
		units:    "minuto,minutos|hora,horas|dia,dias|semana,semanas|mês,meses|ano,anos|fim de semana|trimestre",
		parts:    "manhã|tarde|noite tarde|noite",
		edges:    "início de,começo de,no início de,no começo de|meados de,em meados de|fim de,final de,no fim de,no final de,fins de",
		turns:    "passado,passada,último,última,últimos,últimas|este,esta,neste,nesta,deste,desta,esse,essa,nesse,nessa|próximo,próxima,que vem|",
		ago:      "há,faz|atrás",
		numbers:  "um,uma|dois,duas|três|quatro|cinco|seis|sete|oito|nove|dez|um par de|alguns,algumas,poucos,poucas,vários,várias",
		links:    "em,no,na,nos,nas,durante,à,ao|no,na,em|de,do,da|o,a,os,as",
		bounds:   "desde|até|antes de,antes do|depois de,depois do,após",
		every:    "cada,todo,toda,todos os",
		ranges:   "entre,de|e,a",
		feasts:   "natal?|ano novo|réveillon|halloween|páscoa",
		phrases:  "hoje=d0,ontem=d-1,anteontem=d-2,amanhã=d1,depois de amanhã=d2,esta manhã=d0m,esta tarde=d0a,esta noite=d0n,ontem à noite=d-1n,últimos dias=D7,últimas semanas=D42,últimos meses=D240",
	},
	{
		name: "pl",
		months: "styczeń,stycznia,styczniu|luty,lutego,lutym|marzec,marca?,marcu|kwiecień,kwietnia,kwietniu|maj?,maja?,maju?|czerwiec,czerwca,czerwcu|lipiec,lipca,lipcu|" +
			"sierpień,sierpnia,sierpniu|wrzesień,września,wrześniu|październik,października,październiku|listopad,listopada,listopadzie|grudzień,grudnia,grudniu",
		weekdays: "poniedziałek,poniedziałku|wtorek,wtorku|środa,środę,środy|czwartek,czwartku|piątek,piątku|sobota,sobotę,soboty|niedziela,niedzielę,niedzieli",
		seasons:  "wiosna,wiosną,wiosnę,wiosny|lato,lata,latem,lecie|jesień,jesienią,jesieni|zima,zimą,zimę,zimy,zimie",
		units:    "minuta,minutę,minuty,minut|godzina,godzinę,godziny,godzin|dzień,dni,dnia|tydzień,tygodnia,tygodniu,tygodnie,tygodni|miesiąc,miesiąca,miesiącu,miesiące,miesięcy|rok,roku,lata,lat|weekend|kwartał,kwartale",
		parts:    "rano,ranem|popołudniu,po południu|wieczorem,wieczór|nocy,w nocy",
		edges:    "początek,początku,na początku|połowa,połowie|koniec,końcu,pod koniec,na koniec,końca",
		turns:    "zeszły,zeszłym,zeszłego,zeszła,zeszłej,zeszłą,ubiegły,ubiegłym,ubiegłego,ubiegłej,ostatni,ostatnim,ostatnią,ostatniej,ostatnich,ostatnie|ten,tym,tego,tej|następny,następnym,przyszły,przyszłym|",
		ago:      "|temu",
		numbers:  "jeden,jedną|dwa,dwie|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć|dziesięć||parę,kilka,kilku",
		links:    "w,we,podczas,na,ku|w,we,dnia|z,ze|",
		bounds:   "od|do|przed|po",
		every:    "każdy,każdą,co",
		ranges:   "między,od|a,do",
		feasts:   "boże narodzenie,bożym narodzeniem,święta|nowy rok|sylwester,sylwestra|halloween|wielkanoc",
		phrases:  "dziś=d0,dzisiaj=d0,wczoraj=d-1,przedwczoraj=d-2,jutro=d1,pojutrze=d2,zeszłej nocy=d-1n,dziś rano=d0m,przedostatni tydzień=w-2,ostatnich dniach=D7,ostatnie dni=D7",
	},
	{
		name:     "cs",
		months:   "leden?,ledna,lednu|únor,února,únoru|březen,března,březnu|duben,dubna,dubnu|květen,května,květnu|červen,června,červnu|červenec,července,červenci|srpen,srpna,srpnu|září|říjen?,října,říjnu|listopad,listopadu|prosinec,prosince,prosinci",
		weekdays: "pondělí,pondělka|úterý|středa,středu,středy|čtvrtek,čtvrtka|pátek,pátku|sobota,sobotu,soboty|neděle,neděli",
		seasons:  "jaro,jaře,jara|léto,létě,léta|podzim,podzimu|zima,zimě,zimy",
		units:    "minuta,minutou,minutami,minut|hodina,hodinou,hodinami,hodin|den,dnem,dny,dnů,dní|týden,týdnem,týdny,týdnu,týdnů|měsíc,měsícem,měsíci,měsíce,měsíců|rok,rokem,roce,roku,lety,let|víkend,víkendu|čtvrtletí",
		parts:    "ráno|odpoledne|večer|noci,v noci",
		edges:    "začátek,začátkem,začátku,na začátku,počátkem|polovina,polovině,v polovině|konec,koncem,konci,ke konci,na konci",
		turns:    "minulý,minulém,minulého,minulou,minulé,minulá,loňský,loňském,loňského,loňské,loňskou,poslední,posledních|tento,tomto,tohoto,tuto,této|příští|",
		ago:      "před,pred|zpět",
		numbers:  "jeden,jedním,jednou|dva,dvěma|tři,třemi|čtyři,čtyřmi|pět,pěti|šest,šesti|sedm,sedmi|osm,osmi|devět,devíti|deset,deseti||pár,několik,několika",
		links:    "v,ve,během,na,o|v,ve,dne|z,ze|",
		bounds:   "od|do|před|po",
		every:    "každý,každou,každé",
		ranges:   "mezi,od|a,do",
		feasts:   "vánoce,vánoc,vánocích,vánoci|nový rok|silvestr,silvestra|halloween|velikonoce,velikonoc",
		phrases:  "dnes=d0,dneska=d0,včera=d-1,předevčírem=d-2,zítra=d1,pozítří=d2,včera večer=d-1e,dnes ráno=d0m,letos=y0,loni=y-1,vloni=y-1,předloni=y-2,předminulý týden=w-2,posledních dnech=D7",
	},
	{
		name: "sk",
		months: "január,januára,januári|február,februára,februári|marec,marca?,marci|apríl?,apríla,apríli|máj?,mája?,máji|jún?,júna,júni|júl?,júla,júli?|august?,augusta?,auguste|september,septembra,septembri|" +
			"október,októbra,októbri|november,novembra,novembri|december,decembra,decembri",
		weekdays: "pondelok,pondelka|utorok,utorka|streda,stredu,stredy|štvrtok,štvrtka|piatok,piatka|sobota,sobotu,soboty|nedeľa,nedeľu,nedele",
		seasons:  "jar?,jari?|leto,lete,leta|jeseň,jeseni|zima,zime,zimy",
		units:    "minúta,minútou,minútami,minút|hodina,hodinou,hodinami,hodín|deň,dňom,dňami,dní|týždeň,týždňom,týždni,týždňami,týždňov|mesiac,mesiacom,mesiaci,mesiacmi,mesiacov|rok,rokom,roku,rokmi,rokov|víkend,víkende|štvrťrok",
		parts:    "ráno|popoludní|večer|noci,v noci",
		edges:    "začiatok,začiatkom,začiatku,na začiatku|polovica,polovici,v polovici|koniec,koncom,konci,na konci",
		turns:    "minulý,minulom,minulého,minulú,minulej,minulá,posledný,posledných|tento,tomto,tohto,túto,tejto|budúci,budúcu|",
		ago:      "pred|dozadu",
		numbers:  "jeden,jedným,jednou|dva,dvoma|tri,troma,tromi|štyri,štyrmi|päť,piatimi|šesť,šiestimi|sedem,siedmimi|osem,ôsmimi|deväť,deviatimi|desať,desiatimi||pár,niekoľko,niekoľkými",
		links:    "v,vo,počas,na,o|v,vo,dňa|z,zo|",
		bounds:   "od|do|pred|po",
		every:    "každý,každú,každé",
		ranges:   "medzi,od|a,do",
		feasts:   "vianoce,vianoc,vianociach|nový rok|silvester,silvestra|halloween|veľká noc",
		phrases:  "dnes=d0,včera=d-1,predvčerom=d-2,zajtra=d1,pozajtra=d2,včera večer=d-1e,dnes ráno=d0m,vlani=y-1,minulý rok=y-1,posledných dňoch=D7",
	},
	{
		name: "ru",
		months: "январь,января,январе|февраль,февраля,феврале|март,марта,марте|апрель,апреля,апреле|май,мая,мае|июнь,июня,июне|июль,июля,июле|" +
			"август,августа,августе|сентябрь,сентября,сентябре|октябрь,октября,октябре|ноябрь,ноября,ноябре|декабрь,декабря,декабре",
		weekdays: "понедельник,понедельника|вторник,вторника|среда?,среду?,среды?|четверг,четверга|пятница,пятницу,пятницы|суббота,субботу,субботы|воскресенье,воскресенья",
		seasons:  "весна,весной,весну,весны|лето,летом,лета|осень,осенью,осени|зима,зимой,зиму,зимы",
		units:    "минута,минуту,минуты,минут|час,часа,часов|день,дня,дней|неделя,неделю,недели,недель,неделе|месяц,месяца,месяце,месяцев|год,года,году,лет|выходные,выходных|квартал,квартале",
		parts:    "утром,утра|днем,днём|вечером,вечера|ночью,ночи",
		edges:    "начало,начале,начала|середина,середине,середины|конец,конце,конца",
		turns:    "прошлый,прошлом,прошлого,прошлую,прошлой,прошлым,прошлые,прошлых,последний,последние,последних,последнюю|этот,этом,этого,эту,этой,эти|следующий,следующую,следующей,следующем|",
		ago:      "|назад",
		numbers:  "один,одну,одна|два,две|три|четыре|пять|шесть|семь|восемь|девять|десять|пару,пара|несколько",
		links:    "в,во,на|в,во|от|",
		bounds:   "с,со|до|перед,до|после",
		every:    "каждый,каждую,каждое",
		ranges:   "между,с|и,по",
		feasts:   "рождество?,рождества?|новый год,нового года|новый год канун|хэллоуин|пасха,пасху",
		phrases:  "сегодня=d0,вчера=d-1,позавчера=d-2,завтра=d1,послезавтра=d2,вчера вечером=d-1e,прошлой ночью=d-1n,позапрошлой неделе=w-2,позапрошлом году=y-2,последние дни=D7,последние недели=D42",
	},
}

// A class is what a time word is to the grammar; its value is the number of
// its group in the table.
type class int8

const (
	monthWord class = iota
	weekdayWord
	seasonWord
	unitWord
	partWord
	edgeWord
	turnWord
	agoWord
	numberWord
	linkWord
	boundWord
	everyWord
	rangeWord
	speechWord
	feastWord
	phraseWord
)

// Values of links, turns and bounds.
const (
	linkIn = iota
	linkOn
	linkOf
	linkThe
)

const (
	turnLast = iota
	turnThis
	turnNext
	turnPast
)

const (
	boundNone = iota - 1
	boundSince
	boundUntil
	boundBefore
	boundAfter
)

const (
	couple = 11
	few    = 12
)

// languages is a set of languages, a bit for each of the table.
type languages uint16

const inEnglish languages = 1

// Of some languages the grammar knows more: that they say "the week last", and
// that they say "week ago" for a week ago.
var (
	trailing = languageSet("fr", "es", "it", "pt")
	bare     = languageSet("pl", "cs", "sk", "ru")
)

func languageSet(names ...string) languages {
	var in languages
	for i, t := range languageTable {
		if slices.Contains(names, t.name) {
			in |= 1 << i
		}
	}
	return in
}

// An entry is one meaning of a form.
type entry struct {
	class class
	value int
	words []string // of the form, without the first
	means string   // of a phrase
	in    languages
	weak  bool // the form ends in ?
}

// A lexicon has the entries of all forms by their first word; of one word those
// with the most words come first.
type lexicon map[string][]entry

// timeWords is languageTable as a lexicon.
var timeWords = func() lexicon {
	x := make(lexicon, 4096) // more than there are first words
	for i, t := range languageTable {
		in := languages(1) << i
		for c, groups := range []string{
			monthWord: t.months, weekdayWord: t.weekdays, seasonWord: t.seasons, unitWord: t.units, partWord: t.parts, edgeWord: t.edges,
			turnWord: t.turns, agoWord: t.ago, numberWord: t.numbers, linkWord: t.links, boundWord: t.bounds, everyWord: t.every, rangeWord: t.ranges, speechWord: t.speech, feastWord: t.feasts,
		} {
			for value, forms := range strings.Split(groups, "|") {
				for form := range strings.SplitSeq(forms, ",") {
					x.add(form, entry{class: class(c), value: value, in: in})
				}
			}
		}
		if t.joins {
			x.join(t.weekdays, t.parts, in)
		}
		for p := range strings.SplitSeq(t.phrases, ",") {
			form, means, _ := strings.Cut(p, "=")
			x.add(form, entry{class: phraseWord, means: means, in: in})
		}
	}
	return x
}()

// add adds a form. A form that two languages share is one entry of both.
func (x lexicon) add(form string, e entry) {
	form, e.weak = strings.CutSuffix(form, "?")
	words := strings.Fields(form)
	if len(words) == 0 {
		return
	}
	for i, w := range words {
		_, words[i], _ = foldedWord(w, 0)
	}
	e.words = words[1:]
	list := x[words[0]]
	at := len(list)
	for i, o := range list {
		if o.class == e.class && o.value == e.value && o.means == e.means && slices.Equal(o.words, e.words) {
			list[i].in |= e.in
			list[i].weak = o.weak || e.weak
			return
		}
		if at == len(list) && len(o.words) < len(e.words) {
			at = i
		}
	}
	list = append(list, entry{})
	copy(list[at+1:], list[at:])
	list[at] = e
	x[words[0]] = list
}

// join adds each weekday with each part of the day as one word.
func (x lexicon) join(weekdays, parts string, in languages) {
	for d, days := range strings.Split(weekdays, "|") {
		for name := range strings.SplitSeq(days, ",") {
			for p, forms := range strings.Split(parts, "|") {
				for form := range strings.SplitSeq(forms, ",") {
					x.add(name+form, entry{class: weekdayWord, value: d, means: "maen"[p : p+1], in: in})
				}
			}
		}
	}
}

// find returns the longest entry of a class whose form begins at token i, in one
// of the languages, and the token after the form.
func (r *timeReader) find(i int, c class, in languages) (entry, int, bool) {
	if i >= len(r.tokens) || r.tokens[i].kind != wordToken {
		return entry{}, i, false
	}
	for _, e := range r.words[r.tokens[i].text] {
		if e.class == c && e.in&in != 0 && r.follows(i+1, e.words) {
			return e, i + 1 + r.length(i+1, e.words), true
		}
	}
	return entry{}, i, false
}

// follows reports whether words stand at token i, with or without hyphens.
func (r *timeReader) follows(i int, words []string) bool {
	for _, w := range words {
		if r.hyphen(i) {
			i++
		}
		if !r.word(i, w) {
			return false
		}
		i++
	}
	return true
}

// length returns how many tokens the words at token i take, hyphens included.
func (r *timeReader) length(i int, words []string) int {
	from := i
	for range words {
		if r.hyphen(i) {
			i++
		}
		i++
	}
	return i - from
}

// hyphen reports whether token i is a hyphen between two words.
func (r *timeReader) hyphen(i int) bool {
	return r.glued(i) && r.glued(i+1) && (r.sign(i, "-") || r.sign(i, "‐"))
}

// distance reads a phrase's unit, distance and part of the day, such as d-1n;
// false where it means something else.
func (e entry) distance() (u unit, n int, p part, ok bool) {
	if len(e.means) < 2 {
		return 0, 0, 0, false
	}
	u, ok = map[byte]unit{'d': day, 'w': week, 'm': month, 'y': year}[e.means[0]]
	rest := e.means[1:]
	if at := strings.IndexAny(rest, "maen"); at > 0 {
		p = map[byte]part{'m': morning, 'a': afternoon, 'e': evening, 'n': night}[rest[at]]
		rest = rest[:at]
	}
	n, err := strconv.Atoi(rest)
	return u, n, p, ok && err == nil
}
