package media

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // so that a GIF is decoded
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
	_ "golang.org/x/image/webp" // so that a WebP is decoded

	"github.com/earshot-ai/earshot/llm"
)

const (
	// maxEdge is the longest edge that a model sees, in pixels. Providers scale
	// larger pictures down themselves, and bill the larger size
	// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
	maxEdge = 1568
	// maxEncoded bounds the bytes of a picture: 5 MB in base64, the smallest limit
	// of a provider.
	maxEncoded = 3_750_000
	// maxMemory bounds the memory for unpacking a picture, in bytes.
	maxMemory = 192 << 20
	// maxScans bounds the scans of a progressive JPEG. Cameras and programs write
	// about ten; a scan of few bytes costs a pass over the whole picture.
	maxScans = 100
)

// convertImage converts a PNG, JPEG, GIF (its first frame) or WebP into a form that every
// provider accepts, no larger than a model sees. The picture's dimensions are read
// and bounded before anything is unpacked.
func convertImage(data []byte) (m llm.Media, err error) {
	// The decoders read what strangers wrote, and may panic.
	defer func() {
		if r := recover(); r != nil {
			m, err = llm.Media{}, &Error{whyDamaged, fmt.Errorf("the decoder panicked: %v", r)}
		}
	}()
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return m, &Error{whyDamaged, err}
	}
	if config.Width <= 0 || config.Height <= 0 {
		return m, &Error{Why: whyDamaged}
	}
	if int64(config.Width)*int64(config.Height) > maxMemory/int64(pixelCost(config, format, data)) {
		return m, &Error{whyPixels, fmt.Errorf("%d × %d", config.Width, config.Height)}
	}
	if format == "jpeg" && bytes.Count(data, []byte{0xff, 0xda}) > maxScans {
		return m, &Error{whyDamaged, errors.New("it has too many scans")}
	}
	whole, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return m, &Error{whyDamaged, err}
	}
	small := shrinkImage(whole)
	if format != "gif" && small == whole {
		if len(data) <= maxEncoded {
			return llm.Media{Type: "image/" + format, Data: data}, nil
		}
		return encodeImage(small, false) // too many bytes, and not too many pixels
	}
	return encodeImage(small, format == "png" || format == "gif")
}

// pixelCost is how many bytes a pixel takes at most while a picture is
// unpacked and shrunk, copies of interlaced and layered ones included. A
// progressive JPEG is kept as coefficients of four bytes too.
func pixelCost(c image.Config, format string, data []byte) int {
	switch {
	case format == "gif":
		return 3
	case format == "jpeg" && isProgressive(data):
		return 24
	case format == "jpeg" && c.ColorModel == color.YCbCrModel, format == "jpeg" && c.ColorModel == color.GrayModel:
		return 4
	case c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model:
		return 16
	}
	return 10
}

// isProgressive reports whether a JPEG's first frame is a progressive one.
func isProgressive(data []byte) bool {
	const baseline, extended, progressive, scan = 0xc0, 0xc1, 0xc2, 0xda
	for i := 2; i+3 < len(data); {
		switch {
		case data[i] != 0xff:
			return true // malformed: the more expensive kind is assumed
		case data[i+1] == 0xff:
			i++ // fill
			continue
		case data[i+1] == progressive:
			return true
		case data[i+1] == baseline, data[i+1] == extended, data[i+1] == scan:
			return false
		}
		i += 2 + int(data[i+2])<<8 + int(data[i+3])
	}
	return true
}

// shrinkImage returns the picture with a longest edge of at most maxEdge. It halves the
// picture as often as possible, which averages pixels, and then scales once. Scaling
// far in one step would skip pixels, or need more memory than the picture for a
// filter over all of them.
func shrinkImage(from image.Image) image.Image {
	for {
		b := from.Bounds()
		w, h := b.Dx(), b.Dy()
		long := max(w, h)
		switch {
		case long <= maxEdge:
			return from
		case long >= 2*maxEdge:
			w, h = max(1, w/2), max(1, h/2)
		default:
			w, h = max(1, w*maxEdge/long), max(1, h*maxEdge/long)
		}
		to := image.NewRGBA(image.Rect(0, 0, w, h))
		draw.ApproxBiLinear.Scale(to, to.Bounds(), from, b, draw.Src, nil)
		from = to
	}
}

// encodeImage writes a picture as JPEG, or as PNG if it is to be lossless and that is not
// too large.
func encodeImage(m image.Image, lossless bool) (llm.Media, error) {
	var b bytes.Buffer
	if lossless {
		if err := png.Encode(&b, m); err != nil {
			return llm.Media{}, &Error{whyDamaged, err}
		}
		if b.Len() <= maxEncoded {
			return llm.Media{Type: "image/png", Data: b.Bytes()}, nil
		}
		b.Reset()
	}
	// JPEG has no transparency: transparent pixels become white.
	flat := image.NewRGBA(m.Bounds())
	draw.Draw(flat, flat.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), m, m.Bounds().Min, draw.Over)
	if err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: 85}); err != nil {
		return llm.Media{}, &Error{whyDamaged, err}
	}
	return llm.Media{Type: "image/jpeg", Data: b.Bytes()}, nil
}
