package main

import (
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

type linksCmd struct {
	Messages string `required:"" placeholder:"FILE" help:"The messages: JSON lines, gzipped where the name ends in .gz." type:"path"`
	Links    string `placeholder:"FILE" help:"Who answers whom, as people annotated it." type:"path"`
	Known    int    `placeholder:"PERCENT" help:"Measure also with so many of a hundred reply references known to the guess."`
	Out      string `placeholder:"RUN" help:"Write the guesses to this file, or to - for standard output, and no measures." type:"path"`
}

func (c *linksCmd) Help() string {
	return `Guesses for each message which earlier one of its conversation it answers, and compares the guesses with what is known.
With --links: the annotated links (precision, recall and F over links; F over conversations of two and more messages that
are guessed to the message; one minus the scaled variation of information). Always: the data's own reply references,
which are hidden from the guess, as threads are (@1: the true parent is the first guess, @3: it is among the first three).

With --known PERCENT it measures once more, as a window does where only some messages say what they answer: those
references are followed, every other message is guessed. It compares the conversations that all references make with those
of the known references alone, and of the known references and the guesses.

With --out RUN it writes a line for each message and measures nothing:
  {"conversation": "…", "id": "…", "parent": "…", "ranked": ["…"]}
parent = id starts a conversation. ranked holds up to three likely parents, best first. A message that is marked as a reply
starts no conversation; its parent is the first of ranked.

Examples:

  earshot-eval links --messages irc.jsonl --links irc-links.jsonl
  earshot-eval links --messages discord.jsonl --known 50`
}

func (c *linksCmd) Run(x *evalRun) error {
	if c.Out != "" && x.json {
		return usagef("--out and --json are two forms of output; use one of them")
	}
	switch {
	case c.Known < 0 || c.Known > 99:
		return usagef("--known must be 0 to 99, not %d", c.Known)
	case c.Known > 0 && c.Out != "":
		return usagef("--known is a measure, and --out measures nothing; use one of them")
	}
	messages, err := chats.Messages(c.Messages)
	if err != nil {
		return usagef("%v", err)
	}
	var annotated []chats.Link
	if c.Links != "" {
		if annotated, err = chats.Links(c.Links); err != nil {
			return usagef("%v", err)
		}
	}
	guesses := eval.GuessLinks(messages)
	if c.Out != "" {
		return x.writeLines(c.Out, len(guesses), func(line func(any) error) error {
			for _, g := range guesses {
				if err := line(g); err != nil {
					return err
				}
			}
			return nil
		})
	}
	var out struct {
		Messages int                 `json:"messages"`
		Links    *eval.LinkMeasures  `json:"links,omitempty"`
		Replies  *eval.ReplyMeasures `json:"replies,omitempty"`
		Mixed    *eval.MixedMeasures `json:"mixed,omitempty"`
	}
	out.Messages = len(guesses)
	if c.Links != "" {
		m := eval.MeasureLinks(guesses, annotated)
		out.Links = &m
	}
	if m := eval.MeasureReplies(guesses, messages); m.Replies > 0 {
		out.Replies = &m
		if c.Known > 0 {
			m := eval.MeasureMixed(messages, c.Known)
			out.Mixed = &m
		}
	}
	if out.Links == nil && out.Replies == nil {
		return usagef("%s holds no reply references, so there is nothing to measure; name the annotated links with --links, or write the guesses with --out", c.Messages)
	}
	if x.json {
		return x.writeJSON(out)
	}
	x.printf("%d messages\n", out.Messages)
	if m := out.Links; m != nil {
		x.printf("annotated                %d messages, %d links\n", m.Messages, m.Links.Gold)
		x.printf("links                    P %.1f  R %.1f  F %.1f\n", 100*m.Links.Precision, 100*m.Links.Recall, 100*m.Links.F)
		x.printf("exact conversations      P %.1f  R %.1f  F %.1f\n", 100*m.Exact.Precision, 100*m.Exact.Recall, 100*m.Exact.F)
		x.printf("variation of information %.1f\n", 100*m.Information)
	}
	if m := out.Replies; m != nil {
		x.printf("replies, hidden          %d  @1 %.1f  @3 %.1f\n", m.Replies, 100*m.At1, 100*m.At3)
	}
	if m := out.Mixed; m != nil {
		x.printf("%d references known    %d hidden  @1 %.1f  @3 %.1f; guessed %d, right %d\n", m.Known, m.Hidden.Replies, 100*m.Hidden.At1, 100*m.Hidden.At3, m.Guessed, m.Right)
		x.printf("messages without one      %d, %d of them guessed to answer something\n", m.Plain, m.PlainGuessed)
		for _, row := range []struct {
			what string
			eval.MixedConversations
		}{{"by references alone      ", m.Alone}, {"and by guesses           ", m.Both}} {
			x.printf("%sexact conversations P %.1f  R %.1f  F %.1f, variation of information %.1f\n",
				row.what, 100*row.Exact.Precision, 100*row.Exact.Recall, 100*row.Exact.F, 100*row.Information)
		}
	}
	return nil
}
