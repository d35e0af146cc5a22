package simtest

import (
	"fmt"
	"time"

	"github.com/earshot-ai/earshot/simulate"
)

// do carries out an act.
func (w *world) do(a act) {
	switch a.kind {
	case actSay, actReply, actUpload:
		w.say(a)
	case actEdit, actDelete, actReact:
		if m := w.message(a); m != nil {
			w.change(a, m)
		}
	case actCrash, actStop, actReplica:
		w.process(a)
	case actFault:
		w.slack.Inject(a.fault)
	case actOutage:
		w.slack.Inject(a.fault)
		w.later.Go(func() {
			time.Sleep(a.long)
			w.slack.Heal()
		})
	case actHeal:
		w.slack.Heal()
		w.slack.Release()
	case actModel:
		w.mu.Lock()
		w.moods = append(w.moods, a)
		w.mu.Unlock()
	case actJump:
		w.jump(a)
	case actClick:
		w.click(a)
	case actRenew:
		w.slack.Disconnect(a.reason)
	case actCut:
		w.slack.Cut()
	case actRedeliver:
		if list := w.slack.Deliveries(); len(list) > 0 {
			w.slack.Redeliver(list[a.which%len(list)].EventID, a.ask)
		}
	}
}

// text returns what a person writes: a mention where the bot is asked, the
// channel's mark, and a word that occurs nowhere else.
func (w *world) text(a act, where int) string {
	to := ""
	if a.ask {
		to = "<@" + w.slack.App().UserID + "> "
	}
	return fmt.Sprintf("%smk%dzzq how is the deploy of %s?", to, where, a.word)
}

func (w *world) say(a act) {
	m := &spoken{channel: w.channels[a.where], user: w.people[a.who], word: a.word, words: []string{a.word}, ask: a.ask}
	if a.where >= 2 {
		m.user, m.ask = w.people[a.where-2], true
	}
	s := simulate.PostedMessage{Channel: m.channel, User: m.user, Text: w.text(a, a.where)}
	if a.kind == actReply {
		if root := w.message(a); root != nil {
			s.Thread = root.ts
			if root.thread != "" {
				s.Thread = root.thread
			}
		}
	}
	if a.kind == actUpload {
		s.Files = []string{w.slack.AddFile(simulate.File{Name: "notes.txt", Data: []byte("a file")})}
	}
	m.thread = s.Thread
	m.ts = w.slack.Post(s)
	w.said = append(w.said, m)
	w.note("    %s %s thread %q ask %v: %s", m.channel, m.ts, m.thread, m.ask, m.word)
}

// message returns the message that an act refers to; nil where there is none.
func (w *world) message(a act) *spoken {
	var list []*spoken
	for _, m := range w.said {
		if m.channel == w.channels[a.where] && !m.deleted {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1-a.which%len(list)%6%len(list)] // one of the newest
}

func (w *world) change(a act, m *spoken) {
	w.note("    %s %s", m.channel, m.ts)
	switch a.kind {
	case actEdit:
		ask := a
		ask.ask = m.ask && a.where < 2
		w.slack.Edit(m.channel, m.ts, w.text(ask, a.where))
		m.word = a.word
		m.words = append(m.words, a.word)
	case actDelete:
		w.slack.Delete(m.channel, m.ts)
		m.deleted = true
	case actReact:
		w.slack.React(m.channel, m.ts, w.people[a.who], fmt.Sprint("emoji", a.which))
	}
}

// jump sets a clock: that of the store, or of one of the processes where each has its
// own.
func (w *world) jump(a act) {
	living := w.living()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.script.apart && a.which%2 == 0 && len(living) > 0 {
		living[a.which/2%len(living)].off += a.long
		return
	}
	w.jumped += a.long
}

// process kills or stops a process, or starts another.
func (w *world) process(a act) {
	living := w.living()
	if len(living) == 0 {
		return // a kill is already due
	}
	p := living[a.which%len(living)]
	switch a.kind {
	case actCrash:
		p.mu.Lock()
		p.crash = crash{at: p.effects + a.n, before: a.before}
		p.mu.Unlock()
		w.later.Go(func() {
			// A process that never reaches the effect is killed after a while.
			for end := time.Now().Add(time.Minute); p.alive() && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			}
			p.die("late")
			time.Sleep(a.long)
			w.revive()
		})
	case actStop:
		w.stop(p)
		if len(w.living()) == 0 {
			w.downtime(a.long)
		}
	case actReplica:
		if len(living) > 1 {
			w.stop(p)
			return
		}
		w.start(crash{})
	}
}
