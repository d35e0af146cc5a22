package index

import (
	"slices"
	"strings"
)

// stops are the terms of English and Japanese stop words. They are in the index, so
// that phrases are found, but a query leaves them out if it has other words.
var stops = termsOf(
	"a an the this that these that those there here",
	"i me my mine we us our ours you your yours he him his she her hers it its they them their theirs",
	"i'm i've i'll i'd you're you've you'll we're we've we'll he's she's it's they're they've that's there's",
	"am is are was were be been being do does did doing done have has had having",
	"isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't can't couldn't shouldn't",
	"will would shall should can could may might must",
	"and or but if then else so because as than too also just only very",
	"of at by for with about into to from in out on off up down over under again",
	"what which who whom whose when where why how",
	"all any both each few more most other some such no nor not own same",
	"anyone anybody someone somebody everyone everybody",
	"please thanks thank ok okay yes yeah yep hi hello hey",
	"です ます した して いる ある こと する ので から まし ない この その よう には ては でも けど とか って ると れる られ った いう てい いま すが ませ せん たい",
	"どこ どれ どの どう なに なん いつ だれ んだ だっ たっ っけ だ た て たの のは のか",
	"は が を に の と で も へ や か ね よ な け",
)

// weakWords are the terms of words that a question has besides what it asks for.
// They weigh less.
var weakWords = termsOf(
	"get got give gave given take took taken make made use used using try tried want wanted need needed",
	"know knew think thought say said tell told ask asked go went gone come came put find found look looked see seen saw",
	"happen happened work worked keep kept let start started set run call called mean means seem",
	"thing things guy guys people person man someone way bit lot kind stuff time times day one two first last new old",
	"still already ever never now finally end currently really actually maybe much many long far",
	"good bad better best back right well sure even though around another different like",
)

// foreignStops are the stop words of other languages, one set for each language.
// Some are words of English too (die, hat, van): see stopsOf.
//
//nolint:misspell // they are not English
var foreignStops = []map[string]bool{
	termsOf( // Dutch
		"de het een en of maar want dus als dan dat die dit deze er hier daar waar wie wat welk welke wanneer waarom hoe hoeveel",
		"ik je jij u hij zij ze we wij jullie mij me hem haar ons hun zijn mijn jouw uw onze",
		"is was waren ben bent geweest wordt worden werd werden heb hebt heeft had hadden hebben kan kunnen kon konden mag moet moeten wil willen wilde zal zullen zou zouden gaat gaan ging doet doen deed",
		"in op aan van voor met bij uit naar om over onder tot door tegen tussen zonder na te nog ook wel niet geen al toch zo nu toen even eens iemand iets alle meer veel heel erg",
	),
	termsOf( // German
		"der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass wenn als ob wie wo wer was wann warum welche welcher welches wieviel",
		"ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein dein sein unser euer",
		"ist sind war waren bin bist gewesen wird werden wurde wurden hat habe haben hatte hatten kann können konnte muss müssen soll sollte will wollte darf macht machen",
		"in im an am auf von vom für mit bei aus nach zu zum zur um über unter bis durch gegen ohne vor noch auch schon nicht kein keine nur so dann da hier dort doch mal jemand etwas alle mehr sehr",
	),
	termsOf( // French
		"le la les l un une des du de d et ou mais donc car que qui quoi dont où quand comment pourquoi combien quel quelle quels quelles ce cet cette ces ça c",
		"je tu il elle on nous vous ils elles me te se lui leur moi toi mon ton son ma ta sa mes tes ses notre votre nos vos leurs",
		"est sont était étaient suis es êtes sommes être été a ai as avons avez ont avait avoir peut peux pouvait doit faut fait faire va vont",
		"à au aux en dans sur sous par pour avec sans chez vers entre avant après depuis pas ne n plus moins très aussi encore déjà si y bien là ici alors comme quelqu'un tout tous toute",
	),
	termsOf( // Spanish
		"el la los las lo un una unos unas y o pero que quien quién qué cuál cuándo cómo dónde por porque cuánto cuántos este esta estos eso esa ese",
		"yo tú él ella nosotros ustedes ellos me te se le les nos mi tu su sus",
		"es son era eran soy ser sido está están estaba hay ha han había tiene tenía puede pueden hace hizo va",
		"de del a al en con sin para sobre entre hasta desde no sí más menos muy también ya si como todo todos alguien algo",
	),
	termsOf( // Italian
		"il lo la i gli le un uno una e o ma che chi cosa quale quando come dove perché quanto quanti questo questa quello quella",
		"io tu lui lei noi voi loro mi ti si ci vi mio tuo suo nostro",
		"è sono era erano essere stato ha hanno aveva ho abbiamo può fa fatto va",
		"di del della dei a al alla in nel nella con su sul per tra fra da dal non più anche già se tutto qualcuno",
	),
	termsOf( // Portuguese
		"o a os as um uma e ou mas que quem qual quando como onde por porque quanto este esta isso esse essa",
		"eu tu ele ela nós vocês eles me te se lhe meu teu seu sua nosso",
		"é são era eram ser sido está estão estava há tem tinha pode podem faz fez vai foi",
		"de do da dos das em no na nos nas com sem para sobre entre até desde não sim mais muito também já todo alguém",
	),
	termsOf( // Polish
		"i a w z na do że się nie to jest są był była było były być ten ta te tego tej jak co kto gdzie kiedy dlaczego ile który która które",
		"ja ty on ona my wy oni mnie mi ci go mu jej nas was ich mój twój jego",
		"o u za po od dla przez przy bez czy ale lub albo też tak już jeszcze tylko bardzo ktoś coś ma mam może",
	),
	termsOf( // Czech and Slovak
		"a v ve z ze s so na do že sa se si ne nie to je sú jsou bol bola bolo boli byl byla bylo byli byť být ten tá ta te tie tú jak ako čo co kto kdo kde kdy kedy prečo proč koľko kolik ktorý ktorá ktoré který která které",
		"ja já ty on ona my vy oni mi mňa ti ho mu jej nás vás ich môj můj jeho",
		"o u za po od pre pro cez pri při bez či ale alebo nebo aj i už ešte ještě len jen veľmi niekto někdo niečo něco má mám môže může by som sme",
	),
	termsOf( // Russian
		"и в во не что он на я со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему теперь когда даже ну ли если уже или ни быть был была были него до вас там потом себя ничего ей может они тут где есть надо мы кто какой какая какие сколько почему зачем это этот эта эти тот та те для при",
	),
}

// stopsOf returns a test for the stop words of a query: the English and Japanese
// ones, and those of the one other language of which the query has the most, if
// these are two or more and more than the English and Japanese ones.
func stopsOf(all []string) func(term string) bool {
	has := map[string]bool{}
	most := 0
	for _, t := range all {
		if !has[t] && stops[t] {
			most++
		}
		has[t] = true
	}
	most = max(most, 1)
	var also map[string]bool
	for _, list := range foreignStops {
		n := 0
		for t := range has {
			if list[t] {
				n++
			}
		}
		if n > most {
			most, also = n, list
		}
	}
	return func(t string) bool { return stops[t] || also[t] }
}

// termsOf returns the set of the terms of words.
func termsOf(lines ...string) map[string]bool {
	m := map[string]bool{}
	for _, t := range Terms(strings.Join(lines, " ")) {
		m[t] = true
	}
	return m
}

// Ignored returns the terms of a query's text that are not searched for: its stop
// words, unless it has nothing else. Each stands once, in the order of the text.
func Ignored(text string) []string {
	all := Terms(Head(text, maxQuery))
	stop := stopsOf(all)
	var out []string
	some := false
	for _, t := range all {
		if !stop(t) {
			some = true
		} else if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if !some {
		return nil
	}
	return out
}
