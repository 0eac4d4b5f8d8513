// SPDX-License-Identifier: Apache-2.0

// Package feature defines features of the command language, and provides the parts that several features share. A
// feature is a literal with commands, examples, answers and keys. Each feature has its own package below this one.
// Features do not import each other.
package feature

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/metrics"
)

// Feature is a set of commands and their keys on the screen. The program can be built without any given feature.
type Feature struct {
	Name     string
	Keys     []Key
	Commands []Command
}

// Key is a key of the screen. It runs the action of the screen that has this Name, or opens the pane with the title
// Pane.
type Key struct {
	Name string // name in a configuration file
	Keys string // default keys, separated by blanks
	Pane string // pane that it opens, "" for an action
	// Nouns are words that open the pane when they are typed as a command, next to the name of the pane. They are
	// separated by blanks.
	Nouns string
	Help  string
}

// Group is the kind of task that a command serves. It is a heading in the list of commands.
type Group string

// The groups, in the order of the list.
const (
	GroupLook     Group = "Look at the subnet"
	GroupTrace    Group = "Trace paths"
	GroupSimulate Group = "Simulate failures and changes"
	GroupRoute    Group = "Route"
	GroupWrite    Group = "Write to the subnet"
	GroupHistory  Group = "Compare with past states"
	GroupRecord   Group = "Record counters, events and packets"
	GroupFiles    Group = "Read and write files"
	GroupSession  Group = "Control this session"
)

// Groups lists the groups in their order.
var Groups = []Group{
	GroupLook, GroupTrace, GroupSimulate, GroupRoute, GroupWrite, GroupHistory, GroupRecord, GroupFiles, GroupSession,
}

// Command is a command of a feature. Its path may add a subcommand to a command of another feature, as "show cables"
// does.
type Command struct {
	Path     string
	Bare     bool     // may run without a subcommand
	Aliases  []string // of the last word
	Group    Group    // of a Path of one word
	Summary  string   // at most 60 characters: a verb with a capital letter first, no semicolon, no full stop
	Help     string   // more lines, may be empty
	Args     []lang.Arg
	Options  []lang.Option
	DashArgs bool              // words that begin with a dash are arguments
	Examples []string          // scripts for the default simulated subnet
	Answers  []answer.Declared // the answers of Run
	NoAnswer bool              // Run has no answer: it runs other commands or ends the console
	Run      func(*Call) error // nil for a command with subcommands only
}

// Words returns the words of the path.
func (c *Command) Words() []string { return strings.Fields(c.Path) }

// Output writes the answers of a command.
type Output interface {
	// Declared writes an answer.
	Declared(*answer.Answer) error
	// File returns the writer for a file on standard output, or nil if the form of answers is JSON.
	File() io.Writer
	// Preview writes the plan of an action if the form of answers is text. In other forms it writes nothing.
	Preview(*answer.Answer) error
	// Previewed writes an answer in forms other than text. In text it writes nothing, because [Output.Preview] has
	// already written the answer.
	Previewed(*answer.Answer) error
	// Terminal returns the writer for questions and the function that reads the user's answers. Both are nil without a
	// terminal.
	Terminal() (io.Writer, Asker)
	// Format returns the form of the answers.
	Format() answer.Form
	// Remarks writes the warnings and unread parts of the basis to standard error. It is for files that go to standard
	// output.
	Remarks(answer.Basis)
	// Warn writes a warning to standard error.
	Warn(text string)
	// IsScript reports whether a script runs. In a script, commands fail if they cannot do everything that was
	// requested.
	IsScript() bool
	// IsLast reports whether the program ends after this command.
	IsLast() bool
	// FailsOn reports whether --fail-on makes the command of the given answer fail.
	FailsOn(*answer.Answer) bool
}

// Call is the run of a command.
type Call struct {
	*lang.Invocation
	Ctx     context.Context
	Session *session.Session
	Output  Output
	Console Console
}

// FoundError is the error of a command that failed because of the verdict of its answer.
type FoundError struct {
	Verdict answer.Verdict
	What    string
}

func (e *FoundError) Error() string { return e.What }

// Answer writes an answer. It returns a [*FoundError] if the verdict makes the command fail.
func (c *Call) Answer(a *answer.Answer) error {
	if err := c.Output.Declared(a); err != nil {
		return err
	}
	return c.VerdictError(a)
}

// VerdictError returns the error that [Call.Answer] would return, without writing the answer.
func (c *Call) VerdictError(a *answer.Answer) error {
	verdict, what := a.Verdict()
	switch {
	case verdict == answer.OK || a.Fails() == answer.Never || a.Fails() == answer.Asked && !c.Output.FailsOn(a):
		return nil
	case verdict == answer.Unknown && c.Option("strict", "yes") == "no":
		c.Output.Warn(what)
		return nil
	}
	return &FoundError{verdict, cmp.Or(what, verdict.String())}
}

// State returns the state of the session, and the picture that the option "of" selects. The default is staged if it
// exists, otherwise the what-if if it exists, otherwise live.
func (c *Call) State() (*session.State, *session.Picture, error) {
	st := c.Session.State()
	p, err := st.Subject(session.Kind(c.Option("of", "")))
	return &st, p, err
}

// Tables is [Call.State], but returns an error if the selected picture has no tables.
func (c *Call) Tables() (*session.State, *session.Picture, error) {
	st := c.Session.State()
	p, err := st.FreshTablesOf(session.Kind(c.Option("of", "")))
	return &st, p, err
}

// Raw writes a file to standard output without an answer around it.
func (c *Call) Raw(write func(io.Writer) error) error {
	w := c.Output.File()
	if w == nil {
		return c.Misused("- is not available with --json: name a file, or omit --json")
	}
	return write(w)
}

// ErrExit is returned by the commands that end the console.
var ErrExit = errors.New("exit")

// Console is the console that runs a command.
type Console interface {
	// Help returns the help of the command that words name. Without words it returns the list of commands.
	Help(words ...string) (string, error)
	// Run runs the commands in text. Errors name the text by name.
	Run(ctx context.Context, name, text string) error
	// Subnets returns the open subnets; there is at least one. If only one is open, its name is that of its source.
	Subnets() []Subnet
	// Choose selects and returns the subnet for commands that do not name a subnet. The name "" selects the previous
	// one.
	Choose(name string) (Subnet, error)
	// Metrics returns the metrics servers that all subnets share, and the name of this subnet, "" if it has none.
	Metrics() (servers *metrics.Servers, subnet string)
}

// Subnet is one of the subnets that the console has open.
type Subnet interface {
	Name() string
	Session() *session.Session
	// Trouble returns the error if the subnet could not be read at all, otherwise nil.
	Trouble() error
	// Wait waits for the first sweep of the subnet.
	Wait(ctx context.Context) error
}
