package vocab

import (
	"encoding/binary"
	"fmt"
)

// Encode returns the file of a vocabulary: the tokens by rank, "" where a rank
// has no token. It refuses a vocabulary that the format has no room for.
func Encode(tokens []string) ([]byte, error) {
	if len(tokens) >= 1<<slotBits {
		return nil, fmt.Errorf("%d tokens, at most %d fit", len(tokens), 1<<slotBits-1)
	}
	slots := make([]uint32, 1<<slotBits)
	pairs := make([]uint32, 1<<16)
	for i := range pairs {
		pairs[i] = None
	}
	starts := []uint32{0}
	var text []byte
	for i, token := range tokens {
		rank := uint32(i)
		text = append(text, token...)
		starts = append(starts, uint32(len(text)))
		switch {
		case token == "":
			continue
		case len(token) > Longest:
			return nil, fmt.Errorf("token %d has %d bytes, at most %d fit", i, len(token), Longest)
		case len(token) == 2:
			pairs[int(token[0])<<8|int(token[1])] = rank
		}
		slot, fingerprint := hash(token)
		for slots[slot] != 0 {
			slot = (slot + 1) % (1 << slotBits)
		}
		slots[slot] = entry(rank, fingerprint)
	}
	file := binary.LittleEndian.AppendUint32(nil, uint32(len(tokens)))
	for _, part := range [][]uint32{slots, pairs, starts} {
		for _, w := range part {
			file = binary.LittleEndian.AppendUint32(file, w)
		}
	}
	return append(file, text...), nil
}

// A Decoder is a tokenizer of the library that publishes vocabularies.
type Decoder interface {
	Decode(ids []uint) (string, error)
}

// DecodeTokens returns the tokens of a vocabulary by rank, as [Encode] takes them.
// The library offers no other way to them than to decode every id.
func DecodeTokens(d Decoder) []string {
	var tokens []string
	for id := range uint(1 << rankBits) {
		token, err := d.Decode([]uint{id})
		if err != nil {
			token = "" // an id without a token
		}
		tokens = append(tokens, token)
	}
	for len(tokens) > 0 && tokens[len(tokens)-1] == "" {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}
