package simtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// A fact is said once, and asked for much later in other words.
type fact struct {
	said, asked string
	key         string // what only the fact says
}

// longAgo are the facts, six for each of the three moments.
var longAgo = [3][6]fact{
	{
		{"decision: staging moves to Postgres 17 on the fourth of May, production stays where it is", "which version of Postgres did we settle on for staging?", "Postgres 17"},
		{"the boxes for the trade fair are picked up by Brandt & Sohn at gate 9", "who collects the boxes for the trade fair, and where?", "gate 9"},
		{"Ines owns the rotation of the vault passwords from now on, Kofi is her deputy", "who is responsible for rotating the vault passwords?", "Ines owns"},
		{"customer Halvorsen has contract number HV-2291, it runs until the end of next year", "what is the contract number of Halvorsen?", "HV-2291"},
		{"we agreed that invoices below 40 euros are written off without a reminder", "below which amount do we write invoices off?", "40 euros"},
		{"the fire drill of the Lisbon office is on the 19th at eleven", "when does the Lisbon office have its fire drill?", "the 19th at eleven"},
	},
	{
		{"decision: the mobile app drops Android 9 with release 6.2", "from which release on is Android 9 not supported by the mobile app?", "release 6.2"},
		{"the badge printer in the lobby only takes labels of 62 mm", "which labels does the badge printer in the lobby need?", "62 mm"},
		{"Tomasz will translate the handbook into Polish, Vera reviews it", "who translates the handbook into Polish?", "Tomasz will translate"},
		{"the licence key of the map tiles ends with QF77, it is in the safe", "how does the licence key of the map tiles end?", "QF77"},
		{"we agreed to keep audit logs for 400 days, not for 90", "for how long do we keep audit logs?", "400 days"},
		{"the plumber comes to the Ghent office on the 3rd, ask for Mr Claes", "whom do we ask for when the plumber comes to Ghent?", "Mr Claes"},
	},
	{
		{"decision: refunds above 500 pounds need two signatures from the first of June", "from which sum on do refunds need two signatures?", "500 pounds"},
		{"the spare keys of the van hang in cupboard K4 behind the kitchen", "where do the spare keys of the van hang?", "cupboard K4"},
		{"Noor is the contact for the auditors while Bea is away", "who talks to the auditors while Bea is away?", "Noor is the contact"},
		{"the router of the warehouse has serial number RX-5518-B", "what is the serial number of the router in the warehouse?", "RX-5518-B"},
		{"we agreed that the newsletter goes out on every second Wednesday", "on which day does the newsletter go out?", "every second Wednesday"},
		{"the choir rehearses in room 2.14 until the roof is mended", "in which room does the choir rehearse?", "room 2.14"},
	},
}

// chatter returns the n-th message of everyday talk, which states none of the facts.
func chatter(n int) string {
	pick := func(list []string, about string) string { return list[hash(7, about, n)%uint64(len(list))] }
	who := pick([]string{"the new intern", "somebody from sales", "the night shift", "our supplier", "the landlord", "a visitor", "the second team", "support"}, "who")
	did := pick([]string{"asked about", "complained about", "is happy with", "has forgotten", "wants to change", "sent a picture of", "cannot find", "has mended"}, "did")
	what := pick([]string{"the coffee machine", "the seating plan", "the build times", "the parking spaces", "the holiday calendar", "the login page", "the heating", "the weekly report", "the test data", "the window on the second floor", "the import job", "the shared calendar"}, "what")
	why := pick([]string{"and nobody knows since when", "which is fine by me", "so we should look at it on Monday", "but the numbers look good", "as it was last autumn", "and I have no opinion on it", "because the lift is slow", "while we were at lunch", "and it cost us half a day"}, "why")
	return fmt.Sprintf("%s %s %s, case %d, %s", who, did, what, 1000+n*7, why)
}

// scripted is the model that answers, and the one that summarises: it keeps each
// sentence of its input that states one of the facts, as a capable model would.
type scripted struct{}

// Generate implements [llm.Model].
func (scripted) Generate(_ context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	text := textOf(r)
	answer := "From what was said here I would wait for the figures of the week before anything is changed, and then look at it again with everybody who has a stake in it."
	if len(r.Tools) == 0 {
		answer = "Kept of what was said:"
		for _, group := range longAgo {
			for _, f := range group {
				if strings.Contains(text, f.said) {
					answer += "\n- " + f.said
				}
			}
		}
	}
	if stream != nil {
		stream(llm.Event{Text: answer})
	}
	return llm.Response{Parts: []llm.Part{llm.Text(answer)}, Stop: llm.StopEnd, Provider: "script", Model: "script", Usage: earshot.Usage{Input: len(text) / 4, Output: len(answer) / 4}}, nil
}
