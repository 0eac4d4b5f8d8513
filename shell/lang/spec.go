// SPDX-License-Identifier: Apache-2.0

// Package lang implements the command language of the console: statements with the quoting of a POSIX shell, commands
// described by Specs, the matching of a statement with a Spec, completion of a line, and help. It depends neither on
// fabrics nor on the effects of commands.
package lang

import "slices"

// Spec describes a command or a subcommand: its arguments, its options, its help, and the function that runs it. C is
// the type of the function's argument.
type Spec[C any] struct {
	Name    string   // the word that selects it
	Aliases []string // other words that select it, not shown in help and completion
	Group   string   // the heading in [Overview], of a command
	Summary string   // one line without a full stop
	Help    string   // more lines; may be empty

	Examples []string // scripts with the command

	// Run runs the command. It is nil if a subcommand is required.
	Run func(C) error

	Args    []Arg
	Options []Option // also those of its subcommands

	// DashArgs makes Bind treat words that begin with a dash as arguments. Only words of the form --NAME=VALUE remain
	// options.
	DashArgs bool

	// Subcommands are selected by the next word. A subcommand is required unless Bare is set or the command has Args.
	Subcommands []Spec[C]
	Bare        bool
}

// Arg is a positional argument.
type Arg struct {
	Name     string   // as in usage: "SRC", "DST|all"; from Words if empty
	Kind     Kind     // the type of the value
	Words    []string // KindWord: all values; else: additional values
	List     bool     // several values, separated by commas
	Optional bool     // may be missing, as all arguments after it
	Repeat   bool     // the last Arg only: may be repeated
	Written  bool     // KindFile: the command writes the file
}

// Option is an option, written NAME=VALUE or --NAME=VALUE. If the option takes yes and no, --NAME means --NAME=yes. For
// an option of KindFlag, the word NAME means the same. An option may stand anywhere after the command, but only once.
type Option struct {
	Name    string
	Aliases []string // former names, not shown in help and completion
	Summary string   // one line
	Value   string   // as in usage: "FILE"; from Words or Kind if empty
	Kind    Kind     // the type of the value
	Words   []string // as in Arg
	List    bool
	Written bool   // KindFile: the command writes the file
	Default string // the value if the option is missing, for help, [Invocation.Option] and [Invocation.Int]
}

const (
	optionDashes = "--"
	wordYes      = "yes"
)

var flagWords = []string{wordYes, "no"}

// valueKind returns the kind of the value and its possible words, which determine how the value is checked and
// completed.
func (o *Option) valueKind() (Kind, []string) {
	if o.Kind == KindFlag {
		return KindWord, flagWords
	}
	return o.Kind, o.Words
}

// Choices returns words that are possible values. For an Option of KindFlag or KindWord, no other values are valid.
func (o *Option) Choices() []string {
	_, words := o.valueKind()
	return words
}

// Bare returns the value that --NAME without a value means, or "" if the option needs a value.
func (o *Option) Bare() string {
	if slices.Equal(o.Choices(), flagWords) {
		return wordYes
	}
	return ""
}

// Kind is the type of a value. Bind checks values of KindWord, KindInt and KindFlag. An [Env] completes values of the
// other kinds.
type Kind uint8

// The kinds of words.
const (
	KindText     Kind = iota // any text
	KindWord                 // one of Words
	KindFlag                 // yes or no: an Option that may stand without a value
	KindInt                  // a whole number
	KindNode                 // a node, by its name
	KindSwitch               // a switch, by its name
	KindPort                 // a port of the node named before it
	KindPlace                // a node, NAME/PORT, LID, GUID, GID or directed route
	KindGUID                 // 0x and up to 16 hexadecimal digits
	KindFile                 // a file, by its path
	KindEngine               // a routing engine
	KindDumpKind             // a format of routes
	KindPicture              // live, base, whatif, staged or the ID of a past state
	KindCommand              // a command of this language
	KindSubnet               // one of the open subnets
)

var kindNames = [...]string{
	KindText: "TEXT", KindWord: "WORD", KindFlag: "FLAG", KindInt: "N", KindNode: "NODE",
	KindSwitch: "SWITCH", KindPort: "PORT", KindPlace: "PLACE", KindGUID: "GUID", KindFile: "FILE",
	KindEngine: "ENGINE", KindDumpKind: "KIND", KindPicture: "STATE", KindCommand: "COMMAND", KindSubnet: "SUBNET",
}

// String returns the name of the kind in usage, such as "FILE".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "?"
}
