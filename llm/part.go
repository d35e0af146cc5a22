package llm

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// A Kind says what a part is.
type Kind string

// The kinds of parts.
const (
	KindText     Kind = "text"
	KindImage    Kind = "image"
	KindDocument Kind = "document"
	KindAudio    Kind = "audio"
	KindCall     Kind = "call"   // of a tool; the assistant's only
	KindResult   Kind = "result" // of a call; the user's only
	KindOpaque   Kind = "opaque" // a provider's own; the assistant's only
)

// A Part is a piece of a message. Kind says which field is set.
type Part struct {
	Kind   Kind    `json:"kind"`
	Text   string  `json:"text,omitempty"`
	Media  *Media  `json:"media,omitempty"` // image, document, audio
	Call   *Call   `json:"call,omitempty"`
	Result *Result `json:"result,omitempty"`
	// Opaque is JSON that only its provider understands, such as reasoning with a
	// signature. On a text or a call it is the provider's own form of that part:
	// that provider is sent Opaque in the part's place, all others the part.
	Opaque *Opaque `json:"opaque,omitempty"`
}

// A Media is a file with its content.
type Media struct {
	ID   earshot.ArtifactID `json:"id,omitempty"`
	Name string             `json:"name,omitempty"`
	Type string             `json:"type"` // media type, such as image/png
	Data []byte             `json:"data"`
}

// A Call is a model's call of a tool.
type Call struct {
	ID   string `json:"id"` // the provider's, or made by the adapter; unique in a request
	Name string `json:"name"`
	// Args are the arguments as the model wrote them. They may be no valid JSON;
	// whoever runs the tool checks them.
	Args string `json:"args"`
}

// A Result is what a tool returned for a call.
type Result struct {
	Call   string `json:"call"`   // the call's ID
	Name   string `json:"name"`   // the tool's
	Parts  []Part `json:"parts"`  // text, image, document or audio; at least one
	Failed bool   `json:"failed"` // Parts say what went wrong
}

// An Opaque is a provider's JSON, kept byte for byte.
type Opaque struct {
	Provider string `json:"provider"`
	JSON     JSON   `json:"json"`
}

// A JSON is a valid JSON text. It is kept byte for byte, also when it is stored:
// in a JSON document it is a string. Signatures in it would break otherwise.
type JSON string

// Valid reports whether j is JSON in valid UTF-8.
func (j JSON) Valid() bool { return json.Valid([]byte(j)) && utf8.ValidString(string(j)) }

// Text returns a part with text.
func Text(s string) Part { return Part{Kind: KindText, Text: s} }

// Image returns a part with an image.
func Image(m Media) Part { return Part{Kind: KindImage, Media: &m} }

// Document returns a part with a document, such as a PDF or a text file.
func Document(m Media) Part { return Part{Kind: KindDocument, Media: &m} }

// Audio returns a part with a recording.
func Audio(m Media) Part { return Part{Kind: KindAudio, Media: &m} }

// Calling returns a part that calls a tool.
func Calling(c Call) Part { return Part{Kind: KindCall, Call: &c} }

// Results returns the parts that answer calls.
func Results(results ...Result) []Part {
	parts := make([]Part, len(results))
	for i := range results {
		r := results[i]
		parts[i] = Part{Kind: KindResult, Result: &r}
	}
	return parts
}

// OpaquePart returns a part of kind opaque with a provider's JSON.
func OpaquePart(provider string, json JSON) Part {
	return Part{Kind: KindOpaque, Opaque: &Opaque{provider, json}}
}
