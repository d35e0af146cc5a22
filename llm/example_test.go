package llm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// A model asks for tools until it has an answer. The caller runs them, and appends what
// was said to the request.
func Example() {
	ctx := context.Background()
	var model llm.Model = llmtest.New(
		llmtest.Call("weather", `{"city":"Utrecht"}`),
		llmtest.Say("Take an umbrella."),
	)
	request := llm.Request{
		System:    "You are brief.",
		Messages:  []llm.Message{{Role: "user", Parts: []llm.Part{llm.Text("What do I wear in Utrecht?")}}},
		Tools:     []llm.Tool{{Name: "weather", Description: "The weather of a city.", Schema: `{"type":"object"}`}},
		MaxTokens: 100,
	}
	for {
		answer, err := model.Generate(ctx, request, nil)
		if err != nil {
			log.Fatal(err)
		}
		calls := answer.Calls()
		if len(calls) == 0 {
			fmt.Println(answer.Text())
			return
		}
		for _, c := range calls {
			fmt.Println(c.Name, c.Args)
			request = request.Append(answer, llm.Results(llm.Result{Call: c.ID, Name: c.Name, Parts: []llm.Part{llm.Text("rain")}}))
		}
	}
	// Output:
	// weather {"city":"Utrecht"}
	// Take an umbrella.
}
