// SPDX-License-Identifier: Apache-2.0

// Package tmuxtest runs programs for tests in a terminal that tmux emulates.
package tmuxtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

// Patience is the maximum time a test waits for an expected event.
const Patience = 3 * time.Minute

// Screen is a program in a terminal that tmux emulates. It uses tmux's control mode, which reports changes of the
// screen.
type Screen struct {
	t       *testing.T
	Dir     string // the working directory of the program
	in      io.Writer
	replies chan reply
	more    chan struct{} // has an element if the screen may have changed
}

// reply is tmux's answer to a command.
type reply struct {
	text string
	ok   bool
}

// Start starts a shell command in a terminal of w by h cells.
func Start(t *testing.T, w, h int, child string) *Screen {
	t.Helper()
	testenv.Tool(t, "tmux")
	s := &Screen{t: t, Dir: t.TempDir(), replies: make(chan reply, 16), more: make(chan struct{}, 1)}
	// The path of a Unix socket is limited in length, so it is relative.
	cmd := exec.Command("tmux", "-S", "tmux", "-f", os.DevNull, "-C", "new-session", "-d", "-x", fmt.Sprint(w), "-y",
		fmt.Sprint(h), "-c", s.Dir, child, ";",
		"set", "-g", "set-clipboard", "on", ";", "set", "-g", "remain-on-exit", "on", ";", "attach", "-f",
		"ignore-size")
	cmd.Dir = t.TempDir()
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

// firstWord returns the first word of a line, or "" if the line has none.
func firstWord(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return word
}

// listen reads tmux's output: replies between %begin and %end, and notifications.
func (s *Screen) listen(out io.Reader) {
	defer close(s.replies)
	lines := bufio.NewReader(out)
	var text strings.Builder
	for inside := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch word := firstWord(line); {
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

func (s *Screen) reply(command string) string {
	s.t.Helper()
	select {
	case r, ok := <-s.replies:
		if !ok || !r.ok {
			s.t.Fatalf("tmux %s: %s", command, r.text)
		}
		return r.text
	case <-time.After(Patience):
		s.t.Fatalf("tmux %s: no response", command)
	}
	return ""
}

// Tmux runs a tmux command and returns its answer.
func (s *Screen) Tmux(command string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, command+"\n"); err != nil {
		s.t.Fatal(err)
	}
	return s.reply(command)
}

// Text returns the visible text of the terminal, without colours.
func (s *Screen) Text() string {
	s.t.Helper()
	return s.Tmux("capture-pane -p")
}

// Until waits until passes accepts the screen. If that takes too long, the test fails with an error that contains what,
// a description of the expected screen.
func (s *Screen) Until(passes func(screen string) bool, what string) {
	s.t.Helper()
	limit := time.After(Patience)
	for {
		got := s.Text()
		if passes(got) {
			return
		}
		select {
		case <-s.more:
			time.Sleep(2 * time.Millisecond) // a frame may come in parts
		case <-time.After(time.Second):
		case <-limit:
			s.t.Fatalf("the screen never shows %s:\n%s", what, got)
		}
	}
}

// Awaits waits until the screen contains all given texts. A text that begins with an exclamation mark must not be on
// the screen.
func (s *Screen) Awaits(texts ...string) {
	s.t.Helper()
	s.Until(func(screen string) bool {
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

// Types sends key presses: each argument is a text, or the name that tmux gives a key.
func (s *Screen) Types(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		switch k {
		case "Enter", "Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "NPage", "PPage", "Home", "End", "BSpace",
			"Space", "C-c", "C-d", "C-e", "C-g", "C-t", "C-u", "C-w":
			s.Tmux("send-keys " + k)
		case "":
		default:
			for part := range slices.Chunk([]byte(k), 500) { // tmux ignores longer ones
				s.Tmux(fmt.Sprintf("send-keys -H % x", part))
			}
		}
	}
}
