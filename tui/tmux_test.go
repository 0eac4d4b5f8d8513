// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/tui/draw"
)

// patience is how long a test waits for what must come.
const patience = 3 * time.Minute

// screenOf is a program on a terminal that tmux emulates. It is spoken to in tmux's
// control mode, which says when there is something new to see.
type screenOf struct {
	t       *testing.T
	dir     string
	in      io.Writer
	replies chan reply
	more    chan struct{} // holds an element where the screen may have changed
}

// reply is what tmux answers to a command.
type reply struct {
	text string
	ok   bool
}

// onTmux starts this test binary as a program with a screen in a terminal of w by
// h cells.
func onTmux(t *testing.T, w, h int, kind string, env ...string) *screenOf {
	t.Helper()
	vars := append([]string{"-u", "CI", "-u", "NO_COLOR", "-u", "COLORTERM", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", envChild + "=" + kind}, env...)
	return inTmux(t, w, h, "exec env "+strings.Join(append(vars, os.Args[0]), " "))
}

// inTmux starts a command of the shell in a terminal of w by h cells.
func inTmux(t *testing.T, w, h int, child string) *screenOf {
	t.Helper()
	testenv.Tool(t, "tmux")
	s := &screenOf{t: t, dir: t.TempDir(), replies: make(chan reply, 16), more: make(chan struct{}, 1)}
	cmd := exec.Command("tmux", "-S", filepath.Join(t.TempDir(), "tmux"), "-f", os.DevNull, "-C",
		"new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "-c", s.dir, child, ";",
		"set", "-g", "set-clipboard", "on", ";", "set", "-g", "remain-on-exit", "on", ";", "attach", "-f", "ignore-size")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.listen(out)
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "kill-server\n")
		_ = in.Close()
		_ = cmd.Wait()
	})
	for range 4 { // the commands above
		s.reply("start")
	}
	return s
}

// listen takes what tmux says: answers between %begin and %end, and notices.
func (s *screenOf) listen(out io.Reader) {
	defer close(s.replies)
	lines := bufio.NewReader(out)
	var text strings.Builder
	for inside := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch word := draw.FirstWord(strings.TrimSpace(line)); {
		case !inside && word == "%begin":
			inside = true
			text.Reset()
		case inside && (word == "%end" || word == "%error"):
			inside = false
			s.replies <- reply{text.String(), word == "%end"}
		case inside:
			text.WriteString(line)
		case word == "%output", word == "%layout-change":
			select {
			case s.more <- struct{}{}:
			default:
			}
		}
	}
}

func (s *screenOf) reply(command string) string {
	s.t.Helper()
	select {
	case r, ok := <-s.replies:
		if !ok || !r.ok {
			s.t.Fatalf("tmux %s: %s", command, r.text)
		}
		return r.text
	case <-time.After(patience):
		s.t.Fatalf("tmux %s: no answer", command)
	}
	return ""
}

// tmux runs a command of tmux and returns its answer.
func (s *screenOf) tmux(command string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, command+"\n"); err != nil {
		s.t.Fatal(err)
	}
	return s.reply(command)
}

// screen is what is seen, without colours.
func (s *screenOf) screen() string {
	s.t.Helper()
	return s.tmux("capture-pane -p")
}

// until waits until the screen passes, and says what it should pass where it never
// does.
func (s *screenOf) until(passes func(screen string) bool, what string) {
	s.t.Helper()
	limit := time.After(patience)
	for {
		got := s.screen()
		if passes(got) {
			return
		}
		select {
		case <-s.more:
			time.Sleep(2 * time.Millisecond) // of a frame that comes in parts
		case <-time.After(time.Second):
		case <-limit:
			s.t.Fatalf("the screen never shows %s:\n%s", what, got)
		}
	}
}

// awaits waits until the screen holds texts, and none of those that come after an
// exclamation mark.
func (s *screenOf) awaits(texts ...string) {
	s.t.Helper()
	s.until(func(screen string) bool {
		for _, x := range texts {
			not, negated := strings.CutPrefix(x, "!")
			negated = negated && !strings.HasPrefix(not, " ")
			if !negated {
				not = x
			}
			if strings.Contains(screen, not) == negated {
				return false
			}
		}
		return true
	}, fmt.Sprintf("all of %q", texts))
}

// types sends keys: names of keys as tmux has them, or text.
func (s *screenOf) types(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		switch k {
		case "Enter", "Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "NPage", "PPage", "Home", "End", "BSpace", "Space", "C-c", "C-g", "C-t", "C-u", "C-w":
			s.tmux("send-keys " + k)
		case "":
		default:
			for part := range slices.Chunk([]byte(k), 500) { // of more tmux makes nothing
				s.tmux(fmt.Sprintf("send-keys -H % x", part))
			}
		}
	}
}
