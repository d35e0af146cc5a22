package assemble_test

import (
	"math/rand/v2"

	"pgregory.net/rapid"
)

// A dice makes the choices of a generator. One generator serves three ways of
// testing: rapid shrinks what fails, a seeded source is fast, and a fuzzer's
// bytes follow the coverage.
type dice interface {
	// roll returns one of 0 … n-1; n is at least 1.
	roll(n int) int
}

type rapidDice struct{ t *rapid.T }

func (d rapidDice) roll(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "") }

type seededDice struct{ r *rand.Rand }

func newSeededDice(seed uint64) seededDice { return seededDice{rand.New(rand.NewPCG(seed, 7))} }

func (d seededDice) roll(n int) int { return d.r.IntN(n) }

// bytesDice reads its choices from a fuzzer's input, and rolls 0 at its end.
type bytesDice struct{ data []byte }

func (d *bytesDice) roll(n int) int {
	if len(d.data) == 0 || n == 1 {
		return 0
	}
	v := int(d.data[0])
	d.data = d.data[1:]
	if n > 256 && len(d.data) > 0 {
		v = v<<8 | int(d.data[0])
		d.data = d.data[1:]
	}
	return v % n
}

// one reports true once in n times.
func one(d dice, n int) bool { return d.roll(n) == n-1 }

// pick returns one of the list.
func pick[T any](d dice, list []T) T { return list[d.roll(len(list))] }

// shuffled returns a copy of the list in another order.
func shuffled[T any](d dice, list []T) []T {
	out := append([]T(nil), list...)
	for i := len(out) - 1; i > 0; i-- {
		j := d.roll(i + 1)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
