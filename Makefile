# For those who work on Earshot. To use it, `go run ./cmd/earshot demo` and
# `go test ./...` need neither make nor anything else besides Go.

.PHONY: check fmt vet lint test examples test-race demo bench memory quality fuzz soak golden clients templ browser screenshots build recording ci clean help

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | column -t -s:

check: fmt vet lint test examples test-race ## what must be clean before a commit

fmt: ## write every file as gofmt does
	gofmt -w $$(git ls-files '*.go')

vet: ## go vet
	go vet ./...

lint: ## golangci-lint, pinned in .ci/tools
	.ci/run lint

test: ## the tests, as the README has it
	go test ./...

examples: ## the examples, a module of their own that go test ./... does not reach
	.ci/run examples

test-race: ## the concurrent packages under the race detector, in a random order
	.ci/run race

demo: ## the demo on the bundled workspace
	go run ./cmd/earshot demo

bench: ## the figures that have an aim, beside it
	@go run ./.ci/aims

memory: ## one conversation of 1,000 turns, with its chart
	go test ./internal/daemon/simtest -run TestFactsOfLongAgoAreInThePrompt -count=1 -v -timeout 1h -memory.turns=1000 -memory.chart="$$PWD/docs/memory-growth.svg"

quality: ## evidence in the prompt beside full-text search and the newest messages, on what ships here
	@go run ./cmd/earshot-eval scenes --chatter 3000

fuzz: ## each fuzz target for FUZZTIME (10s)
	.ci/run fuzz

soak: build ## an hour of a busy workspace: memory, goroutines and descriptors over time
	go run ./.ci/soak

golden: ## write the goldens anew; read the difference like code
	go test ./internal/transcript -run Golden -update
	git diff --stat -- testdata

clients: ## write the clients' generated halves, and test both clients and their examples
	go run ./.ci/clients
	go test ./.ci/clients -count=1

templ: ## write the Go of the inspector's templates
	bash .ci/templ

browser: ## use the inspector's pages in Chromium, as people do and as attackers do
	.ci/run browser

screenshots: ## the pictures of the inspector's pages, into docs/images/inspect; look at each
	go run ./.ci/browser

recording: ## the moving picture of the demo, docs/images/demo.svg; look at it
	go run ./.ci/recording

build: ## the static program, and what measures it
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/ ./cmd/earshot ./cmd/earshot-eval

ci: ## everything that must hold before a change lands
	.ci/run

clean: ## what was built
	rm -rf bin .cache
