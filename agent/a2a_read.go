package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// What agents send, read as either version writes it: 1.0 names the kind of a result by the
// field that holds it, 0.3 by "kind".
type (
	a2aTask struct {
		ID        string        `json:"id"`
		ContextID string        `json:"contextId"`
		Status    a2aStatus     `json:"status"`
		Artifacts []a2aArtifact `json:"artifacts"`
		History   []a2aMessage  `json:"history"`
		Metadata  a2aMetadata   `json:"metadata"`
	}
	a2aStatus struct {
		State   string      `json:"state"`
		Message *a2aMessage `json:"message"`
	}
	a2aStatusUpdate struct {
		TaskID    string      `json:"taskId"`
		ContextID string      `json:"contextId"`
		Status    a2aStatus   `json:"status"`
		Metadata  a2aMetadata `json:"metadata"`
	}
	a2aArtifactUpdate struct {
		TaskID    string      `json:"taskId"`
		ContextID string      `json:"contextId"`
		Artifact  a2aArtifact `json:"artifact"`
		Append    bool        `json:"append"`
		Metadata  a2aMetadata `json:"metadata"`
	}
	a2aArtifact struct {
		ID    string    `json:"artifactId"`
		Parts []gotPart `json:"parts"`
	}
	a2aMessage struct {
		ID       string      `json:"messageId"`
		Role     string      `json:"role"`
		Parts    []gotPart   `json:"parts"`
		Metadata a2aMetadata `json:"metadata"`
	}
	gotPart struct {
		Text string `json:"text"`
	}
	// a2aMetadata is the metadata of anything; what stands under TurnExtension is ours.
	a2aMetadata map[string]json.RawMessage
)

// An a2aResult is one result of a call: one of its fields is set.
type a2aResult struct {
	task     *a2aTask
	message  *a2aMessage
	status   *a2aStatusUpdate
	artifact *a2aArtifactUpdate
}

// readResult reads a result of sending a message or of a subscription. One that is nothing of
// the protocol is an error, one of a kind that the protocol does not have is passed over.
func readResult(data json.RawMessage) (r a2aResult, err error) {
	var by struct {
		Kind     string          `json:"kind"`
		Task     json.RawMessage `json:"task"`
		Message  json.RawMessage `json:"message"`
		Status   json.RawMessage `json:"statusUpdate"`
		Artifact json.RawMessage `json:"artifactUpdate"`
	}
	if json.Unmarshal(data, &by) != nil {
		return r, errNoProtocol
	}
	switch by.Kind {
	case "task":
		by.Task = data
	case "message":
		by.Message = data
	case "status-update":
		by.Status = data
	case "artifact-update":
		by.Artifact = data
	}
	read := func(data json.RawMessage, v any) {
		if json.Unmarshal(data, v) != nil {
			err = errNoProtocol
		}
	}
	switch {
	case by.Task != nil:
		read(by.Task, &r.task)
	case by.Message != nil:
		read(by.Message, &r.message)
	case by.Status != nil:
		read(by.Status, &r.status)
	case by.Artifact != nil:
		read(by.Artifact, &r.artifact)
	}
	return r, err
}

var errNoProtocol = fault("its answer is no JSON of the protocol", false)

// The states of a task, as 0.3 writes them.
const (
	stateCompleted = "completed"
	stateFailed    = "failed"
	stateCanceled  = "canceled"
	stateRejected  = "rejected"
	stateInput     = "input-required"
	stateAuth      = "auth-required"
)

// state returns a state as 0.3 writes it; 1.0 writes TASK_STATE_INPUT_REQUIRED.
func (s a2aStatus) state() string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(s.State, "TASK_STATE_")), "_", "-")
}

// text returns the text of parts; files and data are left out.
func text(parts []gotPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(strings.ToValidUTF8(p.Text, "�"))
	}
	return b.String()
}

// text returns what a message says; m may be nil.
func (m *a2aMessage) text() string {
	if m == nil {
		return ""
	}
	return text(m.Parts)
}

// mark is the same for the same question, and for no other.
func (m *a2aMessage) mark() string {
	if m == nil {
		return ""
	}
	h := sha256.Sum256([]byte(cmp.Or(m.ID, m.text())))
	return hex.EncodeToString(h[:8])
}

// read reads what stands under our key; nothing of it is required.
func (m a2aMetadata) read(v any) {
	if data, ok := m[TurnExtension]; ok {
		_ = json.Unmarshal(data, v)
	}
}
