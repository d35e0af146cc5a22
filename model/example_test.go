package model_test

import (
	"context"
	"fmt"
	"os"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/openai"
	"github.com/earshot-ai/earshot/secret"
)

// Claude answers; where it is down or over its limit for long, a model on this
// machine does.
func Example() {
	claude, err := anthropic.New(model.Options{Model: "claude-sonnet-4-5", APIKey: secret.New(os.Getenv("ANTHROPIC_API_KEY"))})
	if err != nil {
		fmt.Println(err)
		return
	}
	local, err := openai.New(model.Options{Model: "qwen3", BaseURL: "http://localhost:11434/v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := model.Fallback(nil,
		model.Retry(model.Break(claude, model.NewBreaker(anthropic.Provider, nil)), nil),
		model.Retry(model.Break(local, model.NewBreaker("local", nil)), nil))
	answer, err := m.Generate(context.Background(), llm.Request{
		MaxTokens: 100,
		Messages:  []llm.Message{{Role: earshot.User, Parts: []llm.Part{llm.Text("Hello?")}}},
	}, func(e llm.Event) { fmt.Print(e.Text) })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Usage.Output, "tokens")
}
