// Command gen writes the file of o200k's vocabulary, which package vocab embeds:
//
//	go run ./gen o200k.table
package main

import (
	"fmt"
	"os"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/earshot-ai/earshot/tokens/internal/vocab"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the name of the file to write, got %q", args)
	}
	file, err := vocab.Encode(vocab.DecodeTokens(codec.NewO200kBase()))
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], file, 0o644)
}
