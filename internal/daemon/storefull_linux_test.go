package daemon_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// smallDisk mounts a file system of 64 MB. Where that is not permitted the
// test is skipped; those with a failing store hold the same promises everywhere.
func smallDisk(t *testing.T) string {
	t.Helper()
	at := t.TempDir()
	if err := syscall.Mount("tmpfs", at, "tmpfs", 0, "size=64m"); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("a file system cannot be mounted here (%v): a real full disk is not tried", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, 0); err != nil {
			t.Error(err)
		}
	})
	return at
}

// A disk that fills up, and gets room again.
type disk string

func (d disk) fill() error {
	f, err := os.Create(filepath.Join(string(d), "ballast"))
	if err != nil {
		return err
	}
	for _, block := range []int{1 << 20, 512} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, block))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
	}
	return f.Close()
}

// fail implements what deafens asks for; the error is the disk's own.
func (d disk) fail(error) {
	if err := d.fill(); err != nil {
		panic(err)
	}
}

func (d disk) heal() {
	if err := os.Remove(filepath.Join(string(d), "ballast")); err != nil {
		panic(err)
	}
}

func TestADiskThatFillsUpIsToldAndCountedAndOverByItself(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil, "EARSHOT_HEALTH=127.0.0.1:0")
	at, log := smallDisk(t), &lines{}
	x.db = filepath.Join(at, "bot.db")
	x.environ = append(x.environ, "EARSHOT_DB="+x.db)
	x.options.Log = slog.New(slog.NewTextHandler(log, nil))
	x.start()
	// The write-ahead log keeps the room that it has had: an event must be larger.
	long := x.at("is it raining? ") + strings.Repeat("word ", 7000)
	deafens(t, &x.botWorld, disk(at), log, nil, func() {
		for range 20 {
			x.Say(x.general, x.bob, strings.Repeat("word ", 7000))
		}
		x.Say(x.general, x.ann, long)
	}, "slack")
}

func TestAReadOnlyDiskEndsTheStart(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil)
	at := smallDisk(t)
	x.db = filepath.Join(at, "bot.db")
	x.environ = append(x.environ, "EARSHOT_DB="+x.db)
	x.start()
	x.stop()
	if err := syscall.Mount("", at, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load("", x.environ)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := daemon.Open(t.Context(), daemon.Options{Config: c, Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "sqlite:"+x.db+" cannot be written to") {
		t.Errorf("got %v, want that the store cannot be written to", err)
	}
}
