package model

// A File is what the adapters' FileTokens need to know of a file. Fields that do
// not apply to its type, or are unknown, are zero.
type File struct {
	Type   string // media type, without parameters
	Width  int    // of a picture, in pixels
	Height int
	Pages  int // of a PDF
	Bytes  int
}

// Seconds estimates the length of a recording from its bytes: at 256 kbit/s for a
// WAV file of speech, at 128 kbit/s for any other.
func (f File) Seconds() int {
	perSecond := 16_000
	if f.Type == "audio/wav" {
		perSecond = 32_000
	}
	return f.Bytes/perSecond + 1
}
