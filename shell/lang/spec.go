// SPDX-License-Identifier: Apache-2.0

// Package lang implements the command language of the console: statements with the quoting of a POSIX shell, commands
// described by Specs, the binding of a statement to a Spec, completion of a line, and help. It does not depend on
// fabrics or on what commands do.
package lang

import "slices"

// Spec describes a command or a subcommand: its arguments, its options, its help, and its function on a call of type C.
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

	// DashArgs makes words that begin with a dash arguments, unless they set an option: --NAME=VALUE.
	DashArgs bool

	// Subcommands are selected by the next word. One is required unless Bare is set or the command has Args.
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

// Option is written NAME=VALUE or --NAME=VALUE. Without a value, --NAME stands for --NAME=yes if the option takes
// yes and no, and so does the word NAME for an option of KindFlag. An option may stand anywhere after the command,
// once.
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

// valueKind returns how the value of an option is checked and completed.
func (o *Option) valueKind() (Kind, []string) {
	if o.Kind == KindFlag {
		return KindWord, flagWords
	}
	return o.Kind, o.Words
}

// Choices returns the words that the value may be. There are others too, unless the Option is of KindFlag or KindWord.
func (o *Option) Choices() []string {
	_, words := o.valueKind()
	return words
}

// Bare returns the value that --NAME without a value stands for, "" if the option needs a value.
func (o *Option) Bare() string {
	if slices.Equal(o.Choices(), flagWords) {
		return wordYes
	}
	return ""
}

// Kind is the type of a value. Bind checks KindWord, KindInt and KindFlag; an [Env] completes the others.
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
	KindPlace                // a node, NAME/PORT, lid:N or guid:0xN
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
	KindEngine: "ENGINE", KindDumpKind: "KIND", KindPicture: "PICTURE", KindCommand: "COMMAND", KindSubnet: "SUBNET",
}

// String returns the name of the kind in usage, such as "FILE".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "?"
}
