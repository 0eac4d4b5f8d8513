// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// Bind is a command on a key. Text is one of these:
//
//   - COMMAND is a command of the shell, as if it was typed.
//   - ! PROGRAM ARG... starts a program on the terminal. No shell is involved.
//   - !! TEXT runs a text with sh -c on the terminal.
//
// $NODE, $PORT, $LID and $GUID stand for the selected node, the number of the selected port, the LID and the GUID. In
// the first two forms they are replaced in each word, and are never split into words. In the third form they are
// variables of the environment.
type Bind struct {
	Key, Text string
	line      int
}

// takeBind parses KEY = TEXT.
func (c *Config) takeBind(text string) error {
	word, command, found := strings.Cut(text, "=")
	command = strings.TrimSpace(command)
	if !found || command == "" {
		return fmt.Errorf("expected bind KEY = COMMAND, found %q", text)
	}
	key, err := parseKey(strings.TrimSpace(word))
	if err != nil {
		return err
	}
	if !strings.HasPrefix(command, "!!") {
		if _, err := bindWords(command); err != nil {
			return err
		}
	}
	c.Binds = append(c.Binds, Bind{Key: key, Text: command})
	return nil
}

// takeAlias parses WORD = COMMAND. An alias takes precedence over a command of the same name, so that a new command
// does not make an old file invalid.
func (c *Config) takeAlias(text string) error {
	word, command, found := strings.Cut(text, "=")
	word, command = strings.TrimSpace(word), strings.TrimSpace(command)
	switch {
	case !found || word == "" || command == "" || strings.ContainsAny(word, " \t;'\"\\#"):
		return fmt.Errorf("expected alias WORD = COMMAND, found %q", text)
	case c.Aliases[word] != "":
		return fmt.Errorf("the alias %s is defined twice", word)
	}
	c.Aliases[word] = command
	return nil
}

// Expand replaces the first word of a line by the command for which it stands. A command of an alias is not expanded
// again.
func (c *Config) Expand(line string) string {
	word, rest, more := strings.Cut(strings.TrimLeft(line, " "), " ")
	command, found := c.Aliases[word]
	switch {
	case !found:
		return line
	case more:
		return command + " " + rest
	}
	return command
}

// bindWords returns the words of a command, with quotes removed.
func bindWords(command string) ([]string, error) {
	stmts, err := lang.Parse("", strings.TrimPrefix(command, "!"))
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(command, "!") && len(stmts) != 1 {
		return nil, errors.New("expected one program after !; !! runs a line with sh")
	}
	var words []string
	for _, s := range stmts {
		words = append(words, s.Words...)
	}
	return words, nil
}

// actions returns the actions of the bound keys.
func (c *Config) actions(m *model) []pane.Action {
	var all []pane.Action
	for _, b := range c.Binds {
		all = append(all, pane.Action{
			Binding: pane.On(b.Text, b.Key), Name: "bind " + b.Key, Group: "Your own",
			Why: func() string { _, why := b.ready(m); return why },
			Run: func() tea.Cmd { run, _ := b.ready(m); return run() },
		})
	}
	return all
}

// ready returns the function that runs the command of the key, or the reason why it cannot run now.
func (b *Bind) ready(m *model) (run func() tea.Cmd, why string) {
	program := strings.HasPrefix(b.Text, "!")
	values := variables(m.pane().Subject())
	for _, name := range variable.FindAllString(b.Text, -1) {
		if values[name[1:]] == "" {
			return nil, "the selected row has no " + name
		}
	}
	if program {
		return func() tea.Cmd { return b.start(m, values) }, whyNoShell(m)
	}
	text := replaced(b.Text, values, lang.Quote)
	return func() tea.Cmd { return m.jobs.runCommand(text, true) }, m.jobs.whyBusy()
}

// start runs a program on the terminal, while the screen is suspended.
func (b *Bind) start(m *model, values map[string]string) tea.Cmd {
	words := []string{"sh", "-c", strings.TrimSpace(strings.TrimPrefix(b.Text, "!!"))}
	if !strings.HasPrefix(b.Text, "!!") {
		var err error
		if words, err = programWords(b.Text, values); err != nil {
			m.warn(err.Error())
			return nil
		}
	}
	env := os.Environ()
	for _, name := range variableNames {
		env = append(env, name+"="+values[name])
	}
	m.note(pane.Line{When: m.now(), Kind: pane.LineCommand, Text: b.Text, End: "on the terminal"})
	run := func(ctx context.Context) error { return onTerminal(ctx, words, env) }
	return tea.Exec(repl{m.Ctx, run, m.out}, func(err error) tea.Msg { return shellMsg{b.Text, err} })
}

// programWords returns the program and the arguments of a text, with the variables replaced. It refuses a value that
// would turn an argument into an option.
func programWords(text string, values map[string]string) ([]string, error) {
	words, err := bindWords(text)
	for i := 1; i < len(words); i++ {
		value := replaced(words[i], values, func(s string) string { return s })
		if strings.HasPrefix(value, "-") && !strings.HasPrefix(words[i], "-") {
			return nil, errors.New("the name of the node begins with -, which a program takes for an option")
		}
		words[i] = value
	}
	return words, err
}

// onTerminal runs a program on the terminal, and waits for the Enter key after it.
func onTerminal(ctx context.Context, words, env []string) error {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the user's own configuration
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if err != nil {
		fmt.Printf("%s: %v\n", words[0], err)
	}
	fmt.Print("Enter returns to the screen ")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

var variableNames = []string{"NODE", "PORT", "LID", "GUID"}

// variables returns the values of the variables of a subject. A value that the subject does not have is "".
func variables(s pane.Subject) map[string]string {
	if s.Node == fabric.None {
		return nil
	}
	f := s.Fabric
	n := &f.Nodes[s.Node]
	out := map[string]string{"NODE": draw.Clean(f.NodeName(s.Node), false), "GUID": fmt.Sprintf("%#016x", n.GUID)}
	port := s.Port
	if port == fabric.None {
		port = s.Link
	}
	if port != fabric.None {
		out["PORT"] = strconv.Itoa(int(f.Ports[port].Num))
	}
	end := n.FirstPort
	if !n.IsSwitch() && port != fabric.None && f.Ports[port].Node == s.Node {
		end = port
	}
	if lid := f.LIDOf(end); lid != 0 {
		out["LID"] = strconv.Itoa(int(lid))
	}
	return out
}

// variable matches a variable in a text.
var variable = regexp.MustCompile(`\$(` + strings.Join(variableNames, "|") + `)\b`)

// replaced replaces the variables in a text.
func replaced(text string, values map[string]string, quote func(string) string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string { return quote(values[name[1:]]) })
}
