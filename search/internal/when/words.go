package when

import "strings"

// languageTable has the time words of the languages that the shared questions are in,
// besides Japanese. Groups have bars between them, the forms of a group commas. A form
// is one word or several, without apostrophes and hyphens. One that ends in ? has other
// meanings and counts only next to a year, a day or a preposition.
var languageTable = [][classes]string{
	{ // English
		monthWord:   "january,jan?|february,feb?|march?,mar?|april?,apr?|may?|june?,jun?|july,jul?|august?,aug?|september,sept?,sep?|october,oct?|november,nov?|december,dec?",
		weekdayWord: "monday,mon?|tuesday,tue?,tues?|wednesday,wed?|thursday,thu?,thur?,thurs?|friday,fri?|saturday,sat?|sunday,sun?",
		unitWord:    "day,days|week,weeks|month,months|year,years",
		edgeWord:    "early,beginning of,start of|mid,middle of|late,end of,last days of",
		turnWord:    "last,previous,past|this,current|next,coming",
		inWord:      "in,during,around,on,at,of,from,until,till,by,before,after",
		sinceWord:   "since",
		articleWord: "the,of,in,on",
		everyWord:   "every,each,any",
		phraseWord:  "day before yesterday|yesterday,last night|today,this morning|last time,this time,next time,black friday,good friday",
	},
	{ // Dutch
		monthWord:   "januari|februari|maart|april?|mei?|juni|juli?|augustus?|september|oktober|november|december",
		weekdayWord: "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
		unitWord:    "dag,dagen|week,weken|maand,maanden|jaar",
		edgeWord:    "begin,begin van|half,halverwege,midden|eind,einde,eind van",
		turnWord:    "vorige,vorig,afgelopen,laatste|deze,dit|volgende,volgend,komende",
		inWord:      "in,rond,op,van,tot,voor,na",
		sinceWord:   "sinds,vanaf",
		articleWord: "de,het,van,in",
		everyWord:   "elke,iedere",
		phraseWord:  "eergisteren|gisteren,gister,gisteravond|vandaag,vanochtend,vanmorgen|",
	},
	{ // French
		monthWord:   "janvier|février|mars?|avril?|mai?|juin|juillet|août|septembre|octobre|novembre|décembre",
		weekdayWord: "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
		unitWord:    "jour,jours|semaine,semaines|mois|an,ans,année,années",
		edgeWord:    "début,au début de,au début du|mi,milieu|fin,à la fin de,à la fin du",
		turnWord:    "dernier,dernière,passé,passée|ce,cet,cette|prochain,prochaine",
		inWord:      "en,au,pendant,vers,le,avant,après",
		sinceWord:   "depuis",
		articleWord: "le,la,l,d,de,du,en",
		everyWord:   "chaque,tous les",
		phraseWord:  "avant hier|hier soir,hier matin,qu hier,est hier,c est hier|aujourd hui,ce matin|",
	},
	{ // Slovak
		monthWord: "január,januára,januári|február,februára,februári|marec,marca?,marci|apríl?,apríla,apríli|máj?,mája?,máji|jún?,júna,júni|júl?,júla?,júli?|august?,augusta?,auguste|september,septembra,septembri|" +
			"október,októbra,októbri|november,novembra,novembri|december,decembra,decembri",
		weekdayWord: "pondelok,pondelka|utorok,utorka|streda,stredu,stredy|štvrtok,štvrtka|piatok,piatka|sobota,sobotu,soboty|nedeľa,nedeľu,nedele",
		unitWord:    "deň,dňom,dňami,dní|týždeň,týždňom,týždni,týždňami|mesiac,mesiacom,mesiaci,mesiacmi|rok,rokom,roku,rokmi",
		edgeWord:    "začiatkom,začiatku,na začiatku|polovici,v polovici|koncom,konci,na konci",
		turnWord:    "minulý,minulom,minulého,minulú,minulej|tento,tomto,tohto,túto|budúci,budúcu",
		inWord:      "v,vo,počas,na,do,po,z",
		sinceWord:   "od",
		articleWord: "v,vo,z",
		everyWord:   "každý,každú,každé",
		phraseWord:  "predvčerom|včera|dnes|",
	},
}

// A class is what a time word is to the grammar.
type class int8

const (
	monthWord   class = iota // twelve
	weekdayWord              // seven, from Monday
	unitWord                 // day, week, month, year
	edgeWord                 // beginning, middle, end; with their "of"
	turnWord                 // last, this, next
	inWord                   // prepositions
	sinceWord
	articleWord // and what stands like one
	everyWord   // what comes again is no stretch
	phraseWord  // the day before yesterday, yesterday, today, nothing
	classes
)

// An entry is what a form means as a word of one class.
type entry struct {
	class class
	value int  // the number of its group in the table
	in    int  // languages, a bit for each of the table; 1 is English
	weak  bool // the form ends in ?
}

const anyLanguage = -1

// longest is how many words a form has at most.
const longest = 4

// lexicon has the entries of all forms, without accents.
var lexicon = func() map[string][classes]entry {
	x := map[string][classes]entry{}
	for i, t := range languageTable {
		for c, groups := range t {
			for value, forms := range strings.Split(groups, "|") {
				for form := range strings.SplitSeq(forms, ",") {
					form, weak := strings.CutSuffix(form, "?")
					form = folded(form)
					e := x[form]
					e[c] = entry{class(c), value, e[c].in | 1<<i, weak || e[c].weak}
					x[form] = e
				}
			}
		}
	}
	return x
}()
