package agent

import (
	"strings"

	"github.com/earshot-ai/earshot/llm"
)

const (
	maxTaskID    = 512            // bytes of what a task may be called: it is kept
	maxArtifacts = 1000           // of a task
	maxWork      = 64 * maxAnswer // bytes that are looked through because an answer changes
)

// An a2aAnswer is an answer as far as it is known: a task, or a message without one.
type a2aAnswer struct {
	stream func(llm.Event)
	turn   *llm.Turn
	kept   *keptTask // of the question that is answered; nil where none is

	task, context string
	state         string
	status        *a2aMessage // of the state
	looked        bool        // the state is that of a task that was looked at, and no news
	received      bool        // the task's history has what was sent
	artifacts     []*a2aText
	message       string // an answer without artifacts
	usage         usageEvent

	sent   []byte // what was streamed, since it began anew
	behind bool   // of what is known something was not streamed
	work   int    // bytes that were looked through to see what is new
}

// An a2aText is the text of an artifact.
type a2aText struct {
	id   string
	text strings.Builder
}

// add adds a result. done says that the answer is whole, or that the agent waits for somebody.
func (a *a2aAnswer) add(r a2aResult) (done bool, err error) {
	switch {
	case r.task != nil:
		err = a.setTask(r.task)
	case r.message != nil:
		r.message.Metadata.read(&struct {
			Usage *usageEvent `json:"usage"`
		}{&a.usage})
		a.message, a.state, a.behind = r.message.text(), stateCompleted, true
	case r.status != nil:
		if err = a.of(r.status.TaskID, r.status.ContextID); err == nil {
			a.readUsage(r.status.Metadata)
			a.setStatus(r.status.Status)
		}
	case r.artifact != nil:
		if err = a.of(r.artifact.TaskID, r.artifact.ContextID); err == nil {
			a.readUsage(r.artifact.Metadata)
			err = a.addArtifact(r.artifact.Artifact, r.artifact.Append)
		}
	}
	if err != nil {
		return false, err
	}
	return a.done(), a.tell()
}

// of notes of which task something is, and refuses what is of another one.
func (a *a2aAnswer) of(task, context string) error {
	switch {
	case task == "":
		return nil
	case len(task) > maxTaskID || len(context) > maxTaskID:
		return fault("the id of its task is too long", false)
	case a.task != "" && task != a.task:
		return fault("its answer is of another task", false)
	}
	known := a.task != ""
	a.task, a.context = task, context
	if !known {
		a.event(llm.Event{Task: task})
	}
	return nil
}

func (a *a2aAnswer) event(e llm.Event) {
	if a.stream != nil {
		a.stream(e)
	}
}

func (a *a2aAnswer) readUsage(m a2aMetadata) {
	m.read(&struct {
		Usage *usageEvent `json:"usage"`
	}{&a.usage})
}

// setTask takes a task as it is, in place of what was known of it.
func (a *a2aAnswer) setTask(t *a2aTask) error {
	if err := a.of(t.ID, t.ContextID); err != nil {
		return err
	}
	a.readUsage(t.Metadata)
	a.artifacts, a.behind = nil, true
	for _, x := range t.Artifacts {
		if err := a.addArtifact(x, true); err != nil {
			return err
		}
	}
	a.message = ""
	for _, m := range t.History {
		switch m.Role {
		case "agent", "ROLE_AGENT":
			a.message = m.text()
		default:
			a.received = a.received || m.ID == a.turn.Key
			a.message = "" // what the agent said before is no answer to it
		}
	}
	a.setStatus(t.Status)
	a.looked = true
	return nil
}

func (a *a2aAnswer) setStatus(s a2aStatus) {
	a.state, a.status, a.looked = s.state(), s.Message, false
	if s.Message != nil {
		a.readUsage(s.Message.Metadata)
	}
	said := s.Message.text()
	switch {
	case said == "":
	case a.state == stateCompleted:
		a.message, a.behind = said, true
	case !a.done() && len(a.artifacts) == 0:
		a.event(llm.Event{Status: oneLine(said)})
	}
}

// addArtifact adds to an artifact, or replaces it.
func (a *a2aAnswer) addArtifact(x a2aArtifact, more bool) error {
	said := text(x.Parts)
	n := len(a.artifacts)
	for i := range a.artifacts {
		if a.artifacts[i].id == x.ID {
			n = i
		}
	}
	if n == len(a.artifacts) {
		if n == maxArtifacts {
			return fault("its task has too many artifacts", false)
		}
		a.artifacts = append(a.artifacts, &a2aText{id: x.ID})
		a.behind = true
	}
	t := a.artifacts[n]
	if !more {
		t.text.Reset()
		a.behind = true
	}
	t.text.WriteString(said)
	if a.behind || n < len(a.artifacts)-1 {
		a.behind = true
	} else if said != "" { // the usual case, without looking at the whole
		a.sent = append(a.sent, said...)
		a.event(llm.Event{Text: said})
	}
	return nil
}

// words returns the text of the answer as far as it is known: that of the artifacts, else what
// the agent said when it had done.
func (a *a2aAnswer) words() string {
	var b strings.Builder
	for i := range a.artifacts {
		if t := a.artifacts[i].text.String(); t != "" {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(t)
		}
	}
	if b.Len() == 0 && a.state == stateCompleted {
		return a.message
	}
	return b.String()
}

// tell streams what is known and was not streamed yet.
func (a *a2aAnswer) tell() error {
	if !a.behind {
		return nil
	}
	a.behind = false
	words := a.words()
	if a.work += len(words); a.work > maxWork {
		return fault("its answer changes too often", false)
	}
	more, goesOn := strings.CutPrefix(words, string(a.sent))
	if !goesOn {
		a.event(llm.Event{Again: true})
		a.sent, more = nil, words
	}
	if a.sent = append(a.sent, more...); more != "" {
		a.event(llm.Event{Text: more})
	}
	return nil
}

// done reports whether the task has ended, or waits for somebody. A question that was answered
// already is no new one.
func (a *a2aAnswer) done() bool {
	switch a.state {
	case stateCompleted, stateFailed, stateCanceled, stateRejected:
		return true
	case stateInput, stateAuth:
		return !a.isOldQuestion()
	}
	return false
}

// isOldQuestion reports whether the agent waits for the answer that this request is, or has not
// begun to read it. A task that is looked at may have moved its question into its history.
func (a *a2aAnswer) isOldQuestion() bool {
	return a.kept != nil && (a.kept.Asked == a.status.mark() || a.looked && a.status == nil)
}

// response makes a response of an answer that is done.
func (a *a2aAnswer) response() (llm.Response, error) {
	said := oneLine(a.status.text())
	switch a.state {
	case stateFailed:
		return llm.Response{}, fault(strings.TrimSuffix("its task has failed: "+said, ": "), false)
	case stateRejected:
		return llm.Response{}, fault(strings.TrimSuffix("it does not take the task: "+said, ": "), false)
	case stateCanceled:
		return llm.Response{}, fault(strings.TrimSuffix("its task was canceled: "+said, ": "), false)
	}
	if a.state == stateCompleted {
		return a.usage.response(a.words()), nil
	}
	q := Question{Text: strings.TrimSpace(a.status.text())}
	switch {
	case q.Text != "":
	case a.state == stateAuth:
		q.Text = "I have to be let in somewhere before I can go on. Is that done?"
	default:
		q.Text = "I need to know more before I can go on."
	}
	if a.status != nil {
		a.status.Metadata.read(&struct {
			Options *[]string `json:"options"`
		}{&q.Options})
	}
	return a.usage.asking(a.words(), asks("q_"+a.turn.Key, q, keptJSON(keptTask{Task: a.task, Context: a.context, Asked: a.status.mark()}))), nil
}
