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
	// maxEdge is the longest edge that a model sees: providers scale larger
	// pictures down themselves, and bill them before that
	// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
	maxEdge = 1568
	// maxEncoded is how many bytes a picture may have: 5 MB in base64, which is
	// the least that a provider takes.
	maxEncoded = 3_750_000
	// maxMemory is what unpacking a picture may take.
	maxMemory = 192 << 20
	// maxScans is how often a progressive JPEG may go over its picture. Cameras
	// and programs do so about ten times; each time costs, and takes few bytes.
	maxScans = 100
)

// picture makes of a PNG, JPEG, GIF or WebP what every provider takes: whole,
// no larger than a model sees, of a GIF the first frame. How large it is is
// read, and bounded, before anything is unpacked.
func picture(data []byte) (m llm.Media, err error) {
	// Decoders read what strangers wrote.
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
	small := shrink(whole)
	if format != "gif" && small == whole {
		if len(data) <= maxEncoded {
			return llm.Media{Type: "image/" + format, Data: data}, nil
		}
		return encode(small, false) // what did not become smaller as it was
	}
	return encode(small, format == "png" || format == "gif")
}

// pixelCost is how many bytes a pixel takes at most while a picture is
// unpacked and shrunk, copies of interlaced and layered ones included. A
// progressive JPEG is kept as coefficients of four bytes too.
func pixelCost(c image.Config, format string, data []byte) int {
	switch {
	case format == "gif":
		return 3
	case format == "jpeg" && progressive(data):
		return 24
	case format == "jpeg" && c.ColorModel == color.YCbCrModel, format == "jpeg" && c.ColorModel == color.GrayModel:
		return 4
	case c.ColorModel == color.RGBA64Model || c.ColorModel == color.NRGBA64Model:
		return 16
	}
	return 10
}

// progressive reports whether a JPEG's first frame is a progressive one.
func progressive(data []byte) bool {
	const baseline, extended, progressive, scan = 0xc0, 0xc1, 0xc2, 0xda
	for i := 2; i+3 < len(data); {
		switch {
		case data[i] != 0xff:
			return true // not as it should be: the dearer is assumed
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

// shrink returns a picture whose longest edge is at most maxEdge; a smaller one
// as it is. It halves first, which averages, and only then scales: scaling far
// in one step would pass over pixels, and keeping a filter's sums for all of
// them would take more memory than the picture.
func shrink(from image.Image) image.Image {
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

// encode writes a picture: as JPEG, or where nothing of it shall be lost as PNG,
// unless that is too large.
func encode(m image.Image, lossless bool) (llm.Media, error) {
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
	// JPEG knows no transparency: what can be seen through is white.
	flat := image.NewRGBA(m.Bounds())
	draw.Draw(flat, flat.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), m, m.Bounds().Min, draw.Over)
	if err := jpeg.Encode(&b, flat, &jpeg.Options{Quality: 85}); err != nil {
		return llm.Media{}, &Error{whyDamaged, err}
	}
	return llm.Media{Type: "image/jpeg", Data: b.Bytes()}, nil
}
