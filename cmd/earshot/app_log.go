package main

import (
	"log/slog"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// logJSON is the log.format for programs.
const logJSON = "json"

// logsJSON makes every line of the error stream a JSON line from here on. What a command
// writes there for people is the text of a log line.
func (a *app) logsJSON() {
	if !a.jsonLogs() {
		a.err, a.errTerminal = logLineWriter{slog.New(slog.NewJSONHandler(a.log, nil))}, false
	}
}

func (a *app) jsonLogs() bool {
	_, is := a.err.(logLineWriter)
	return is
}

// logLineWriter writes lines as log lines.
type logLineWriter struct{ log *slog.Logger }

func (n logLineWriter) Write(b []byte) (int, error) {
	for line := range strings.Lines(ansi.Strip(string(b))) {
		if line = strings.TrimSpace(line); line != "" {
			n.log.Info("note", "text", line)
		}
	}
	return len(b), nil
}

// logger writes to the error stream. On a terminal that also shows answers, info
// lines are left out.
func (a *app) logger(c config.Log, live bool) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo
	}
	if live && level == slog.LevelInfo {
		level = slog.LevelWarn
	}
	o := &slog.HandlerOptions{Level: level}
	if a.jsonLogs() {
		return slog.New(slog.NewJSONHandler(a.log, o))
	}
	return slog.New(slog.NewTextHandler(a.log, o))
}
