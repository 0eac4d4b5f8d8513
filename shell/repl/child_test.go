// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"example.org/ibconsole/shell/lang"
	"golang.org/x/sys/unix"

	"example.org/ibconsole/internal/test/testenv"
)

// A test starts this test binary again as the program on the terminal; these
// variables request that, and the mode.
const (
	envChild   = "REPL_TEST_CHILD"
	envHistory = "REPL_TEST_HISTORY"
	envRuns    = "REPL_TEST_RUNS"
)

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		child()
		return
	}
	testenv.AcceptHangups()
	os.Exit(m.Run())
}

var childSpecs = []lang.Spec[any]{
	{Name: "trace", Summary: "the way of a packet", Args: []lang.Arg{{Kind: lang.KindNode, Repeat: true}},
		Options: []lang.Option{{Name: "format", Kind: lang.KindWord, Words: []string{"ibtracert"}}}},
	{Name: "trail", Summary: "another word"},
	{Name: "boom", Args: []lang.Arg{{Kind: lang.KindText}}},
}

type childEnv struct{}

func (childEnv) Candidates(ask lang.Ask) []lang.Candidate {
	if ask.Kind == lang.KindText && ask.Prefix != "" {
		panic("completion")
	}
	return []lang.Candidate{
		{Text: "node-01 HCA-1", Description: "LID 7\x1b[31m"},
		{Text: "node-02 HCA-1", Description: "LID 8"},
		{Text: "\x1b]0;evil\a"},
	}
}

// child runs the loop as often as requested and reports how it ended.
func child() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	runs := 1
	_, _ = fmt.Sscan(os.Getenv(envRuns), &runs)
	for i := range runs {
		err := Run(ctx, Options{
			Execute: func(ctx context.Context, line string) error { return childExecute(ctx, cancel, line) },
			Complete: func(line string, cursor int) (int, []lang.Candidate) {
				return lang.Complete(childSpecs, line, cursor, childEnv{})
			},
			Prompt:      func() string { return fmt.Sprintf("run%d> ", i+1) },
			HistoryFile: os.Getenv(envHistory),
		})
		fmt.Printf("Run %d returned: %v\n", i+1, err)
	}
}

func childExecute(ctx context.Context, cancelRun func(), line string) error {
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "length":
		fmt.Printf("length=%d\n", len(rest))
	case "wait":
		fmt.Println("waiting")
		<-ctx.Done()
		fmt.Println("cause:", context.Cause(ctx))
		return fmt.Errorf("wait: %w", ctx.Err())
	case "stuck":
		fmt.Println("stuck now")
		select {}
	case "panic":
		panic("boom")
	case "fail":
		return errors.New("it failed")
	case "leave":
		return ErrExit
	case "cancel":
		cancelRun()
	case "nested":
		return Run(ctx, Options{Execute: func(context.Context, string) error { return nil }})
	case "mode":
		mode, err := unix.IoctlGetTermios(0, unix.TCGETS)
		fmt.Println("canonical:", err == nil && mode.Lflag&unix.ICANON != 0 && mode.Lflag&unix.ECHO != 0)
	case "files":
		files, err := os.ReadDir("/proc/self/fd")
		fmt.Printf("files=%d. %v\n", len(files), err)
	default:
		fmt.Printf("ran [%s]\n", line)
	}
	return nil
}
