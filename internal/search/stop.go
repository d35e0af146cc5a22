package search

import "strings"

// stops are the terms of words that say little: they are in the index, so that
// phrases are found, but a query leaves them out where it has others.
var stops = func() map[string]bool {
	m := map[string]bool{}
	for _, t := range Terms(strings.Join([]string{
		"a an the this that these those there here",
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
		"です ます した して いる ある こと する ので から まし ない この その よう には では ても でも けど とか って ると れる られ った いう てい いま すが ませ せん たい",
		"は が を に の と で も へ や か ね よ な",
	}, " ")) {
		m[t] = true
	}
	return m
}()
