package model

// A File is what is known of a file when one asks what it costs. What does not
// apply is zero.
type File struct {
	Type   string // media type, without parameters
	Width  int    // of a picture, in pixels
	Height int
	Pages  int // of a PDF
	Bytes  int
}

// Seconds estimates how long a recording is, at the 128 kbit/s of most of them;
// a WAV file has the 256 kbit/s of speech.
func (f File) Seconds() int {
	perSecond := 16_000
	if f.Type == "audio/wav" {
		perSecond = 32_000
	}
	return f.Bytes/perSecond + 1
}
