package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
)

// shrink writes each PNG of a folder anew with a palette of its most frequent colours.
// A page has few colours, and between them shades of the edges of letters, of which
// nobody sees the difference.
func shrink(folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil {
		return err
	}
	for _, path := range files {
		b, err := os.ReadFile(path) //nolint:gosec // of this folder
		if err != nil {
			return err
		}
		full, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, paletted(full)); err != nil {
			return err
		}
		if out.Len() >= len(b) {
			continue
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil { //nolint:gosec // a picture for everybody
			return err
		}
	}
	return nil
}

// paletted returns a picture in its 256 most frequent colours. Others become the
// nearest of them.
func paletted(full image.Image) *image.Paletted {
	box := full.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(full.At(x, y)).(color.RGBA) }
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	colours := make([]color.RGBA, 0, len(count))
	for c := range count {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	palette := color.Palette{}
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	index := make(map[color.RGBA]uint8, len(colours))
	for _, c := range colours {
		index[c] = uint8(palette.Index(c)) //nolint:gosec // below 256
	}
	small := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			small.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	return small
}
