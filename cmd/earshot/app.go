package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/charmbracelet/colorprofile"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/posener/complete"
	"golang.org/x/term"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// commands is the command line as kong reads it. Flags that every command
// takes are here. The groups are those of earshot --help.
type commands struct {
	DB   string `name:"db" placeholder:"SPEC" help:"The database: a path, sqlite:PATH, postgres://USER@HOST/DATABASE, host=… dbname=…, or memory: (default: $$EARSHOT_DB, else a file in your data directory)."`
	JSON bool   `name:"json" help:"Write JSON for programs."`

	Demo     demoCmd     `cmd:"" group:"look" help:"Walk through one real question, on a bundled workspace or your own export."`
	Import   importCmd   `cmd:"" group:"look" help:"Read a chat export into the database."`
	Channels channelsCmd `cmd:"" group:"look" help:"List the stored channels."`
	Thread   threadCmd   `cmd:"" group:"look" help:"Show a thread as people see it, with message ids."`
	Search   searchCmd   `cmd:"" group:"look" help:"Search one channel."`
	Context  contextCmd  `cmd:"" group:"look" help:"Show the prompt that a model would get for a message, and why."`
	Export   exportCmd   `cmd:"" group:"look" help:"Write the stored messages as JSON lines."`

	Init     initCmd     `cmd:"" group:"run" help:"Set a bot up: write a configuration, say what is missing, check the rest."`
	Serve    serveCmd    `cmd:"" group:"run" help:"Run the bot, on a platform: ${any_platform}."`
	Sidecar  sidecarCmd  `cmd:"" group:"run" help:"Serve contexts to bots in any language, over HTTP and MCP."`
	Health   healthCmd   `cmd:"" group:"run" help:"Ask a probe of a running bot or sidecar: the health check of a container."`
	Check    checkCmd    `cmd:"" group:"run" help:"Check whether the bot can work: store, disk, model, platform, clock."`
	Simulate simulateCmd `cmd:"" group:"run" help:"Serve a fake platform, to test a bot without an account."`
	Key      keyCmd      `cmd:"" group:"run" help:"Make, list and revoke API keys for bots in other languages."`
	MCP      mcpCmd      `cmd:"" name:"mcp" group:"run" help:"Let a desktop client read the stored chat, over the Model Context Protocol."`
	Assemble assembleCmd `cmd:"" group:"run" help:"Read one Input as JSON, write its Result: the assembler for other programs."`
	Config   configCmd   `cmd:"" group:"run" help:"Say what holds in a channel, and which line of the configuration says so."`
	Policy   policyCmd   `cmd:"" group:"run" help:"List, show and check policies, which say how a prompt is made."`

	Doctor    doctorCmd    `cmd:"" group:"operate" help:"Say what is well and what is not, with the remedy: settings, store, bot, turns, platform."`
	Status    statusCmd    `cmd:"" group:"operate" help:"Show what is stored, what waits, and which daemons run."`
	Turns     turnsCmd     `cmd:"" group:"operate" help:"List turns: what was asked, and what happened."`
	Turn      turnCmd      `cmd:"" group:"operate" help:"Show one turn: prompt, ledger, tool calls, tokens, cost, times."`
	Approvals approvalsCmd `cmd:"" group:"operate" help:"List what people were asked before a tool acts, and decide it as an operator."`
	Feedback  feedbackCmd  `cmd:"" group:"operate" help:"List what people think of answers."`
	Replay    replayCmd    `cmd:"" group:"operate" help:"Make a turn's prompt again: the same bytes, or what has changed."`
	Diff      diffCmd      `cmd:"" group:"operate" help:"Compare what the model saw in two turns."`
	Stop      stopCmd      `cmd:"" group:"operate" help:"End a turn that is being answered, or that waits for somebody."`
	Retry     retryCmd     `cmd:"" group:"operate" help:"Open a failed or parked turn again."`
	Discard   discardCmd   `cmd:"" group:"operate" help:"End a failed or parked turn for good."`
	Costs     costsCmd     `cmd:"" group:"operate" help:"Sum tokens and money by day, channel, person or model."`
	Models    modelsCmd    `cmd:"" group:"operate" help:"List the models, and their token counts against our estimate."`

	Where   whereCmd   `cmd:"" group:"data" help:"Find every place where a text or an id is stored."`
	Erase   eraseCmd   `cmd:"" group:"data" help:"Erase a person, a channel or messages from the database, with every copy."`
	Backup  backupCmd  `cmd:"" group:"data" help:"Copy the database to a new file, while it is in use."`
	Migrate migrateCmd `cmd:"" group:"data" help:"Bring the database's schema up to date, or say what that would do."`

	Tracker    trackerCmd    `cmd:"" hidden:"" help:"Serve a small issue tracker over the Model Context Protocol, to try a bot's tools with."`
	Eval       evalCmd       `cmd:"" hidden:"" passthrough:"" help:"Run earshot-eval, which measures on chat data what search finds and prompts contain."`
	Docs       docsCmd       `cmd:"" group:"other" help:"Read the documentation, here or in a browser."`
	Completion completionCmd `cmd:"" group:"other" help:"Print shell code for tab completion."`
	Version    versionCmd    `cmd:"" group:"other" help:"Print the version."`
}

// groups are the headings of earshot --help, in order.
var groups = []kong.Group{
	{Key: "look", Title: "Look at chat:"},
	{Key: "run", Title: "Build and run a bot:"},
	{Key: "operate", Title: "Operate a bot:"},
	{Key: "data", Title: "Keep data in order:"},
	{Key: "other", Title: "Further commands:"},
}

// An app is one run of the program: its streams, its environment and the flags
// that every command takes.
type app struct {
	in          io.Reader
	raw         io.Writer // standard output unchanged, for output that programs read
	out         io.Writer // standard output for people: without colours where they are not wanted
	err         io.Writer
	environ     []string
	terminal    bool // out is a terminal
	asks        bool // in is one too: questions can be asked
	errTerminal bool // err is a terminal
	width       int  // of out, in cells

	db   string
	json bool

	// log is where programs read lines, which is err, but where log.format is json: then
	// what is written to err for people comes there as log lines too; see app_log.go.
	log io.Writer

	through func(earshot.Store) earshot.Store // through which the command's store is used; nil outside of tests
}

// The width of lines, in cells.
const (
	plainWidth = 100 // where out is no terminal
	minWidth   = 40
	maxWidth   = 160
)

// newApp returns a run that writes to out. stdout is the stream behind it, which may
// be a terminal.
func newApp(environ []string, stdin io.Reader, stdout, out, stderr io.Writer) *app {
	a := &app{in: stdin, raw: out, environ: environ, width: plainWidth}
	a.out = &colorprofile.Writer{Forward: out, Profile: a.profile(stdout)}
	a.err = &colorprofile.Writer{Forward: stderr, Profile: a.profile(stderr)}
	a.log = a.err
	isTerminal := func(stream any) (*os.File, bool) {
		f, ok := stream.(*os.File)
		return f, ok && term.IsTerminal(int(f.Fd()))
	}
	if f, ok := isTerminal(stdout); ok {
		a.terminal = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			a.width = w
		}
	}
	_, a.errTerminal = isTerminal(stderr)
	_, in := isTerminal(stdin)
	a.asks = in && a.terminal
	if w, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && w > 0 {
		a.width = w
	}
	a.width = min(max(a.width, minWidth), maxWidth)
	if a.getenv("EARSHOT_LOG_FORMAT") == logJSON {
		a.logsJSON()
	}
	return a
}

// profile returns the colours that may be written to w. With NO_COLOR no escape
// sequence is written at all, not even bold.
func (a *app) profile(w io.Writer) colorprofile.Profile {
	if a.getenv("NO_COLOR") != "" {
		return colorprofile.NoTTY
	}
	return colorprofile.Detect(w, a.environ)
}

// getenv returns the value of an environment variable, "" when there is none.
func (a *app) getenv(key string) string {
	for _, kv := range a.environ {
		if k, v, _ := strings.Cut(kv, "="); k == key {
			return v
		}
	}
	return ""
}

// setenv sets an environment variable for what reads them from now on, unless the
// value is empty.
func (a *app) setenv(key, value string) {
	if value != "" {
		a.environ = append(slices.Clip(a.environ), key+"="+value)
	}
}

// newParser returns the parser of the command line, which fills cmds.
func newParser(ctx context.Context, a *app, cmds *commands) *kong.Kong {
	parser, err := kong.New(cmds,
		kong.Name("earshot"),
		kong.Description("Everything your bot should have heard. Nothing it shouldn't.\n\nNew here? Run: earshot demo"),
		kong.ExplicitGroups(groups),
		kong.Vars{"platforms": strings.Join(config.Platforms, ","), "any_platform": config.AnyPlatform()},
		kong.Writers(a.out, a.err),
		kong.Exit(func(code int) { panic(exitStatus(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: a.width}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(a),
	)
	if err != nil {
		panic(err) // the struct tags above are wrong
	}
	describe(parser.Model.Node, "")
	return parser
}

// execute reads the command line and runs the command that it names.
func (a *app) execute(ctx context.Context, args []string) error {
	var cmds commands
	parser := newParser(ctx, a, &cmds)
	var policies []string
	for _, p := range assemble.Policies() {
		policies = append(policies, p.Name)
	}
	kongcompletion.Register(parser, kongcompletion.WithPredictor("policy", complete.PredictSet(policies...)),
		kongcompletion.WithPredictor("channel", complete.PredictFunc(func(c complete.Args) []string { return a.channelWords(ctx, c.All) })))
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version": // as other programs have it
		args = append([]string{"version"}, args[1:]...)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		a.json = asksJSON(args)
		return commandLineError(err, args)
	}
	a.db, a.json = cmds.DB, cmds.JSON
	for _, p := range parsed.Path {
		if p.Flag != nil && p.Flag.Target.Kind() == reflect.String && p.Flag.Target.String() == "" {
			return usagef("--%s must not be empty; leave it out for its default", p.Flag.Name)
		}
	}
	return parsed.Run()
}

// writeJSON writes v for programs: indented, not escaped for HTML.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.raw)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printf writes to standard output. The sink keeps a write error, so that callers
// need not check for one.
func (a *app) printf(format string, args ...any) {
	fmt.Fprintf(a.out, format, args...)
}
