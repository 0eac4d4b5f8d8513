// SPDX-License-Identifier: Apache-2.0

// Package lang is the command language of the console: statements with the quoting of a POSIX shell, commands
// described by Specs, the check of a statement against a Spec, completion of a line that is being typed, and
// help. It knows neither a fabric nor what a command does.
package lang

import "slices"

// Spec describes a command or a subcommand: what it may be given, its help, and what it does to a call of type C.
type Spec[C any] struct {
	Name    string   // the word that chooses it
	Aliases []string // words that choose it too, unseen in help and completion
	Group   string   // the heading in [Overview], of a command
	Summary string   // what it does, in one line without a full stop
	Help    string   // more of it, several lines; may be empty

	Examples []string // scripts with it

	// Run does it. Only a Spec that always needs a subcommand has none.
	Run func(C) error

	Args    []Arg
	Options []Option // also those of its subcommands

	// DashArgs makes words that begin with a dash arguments, unless they set an option: --NAME=VALUE.
	DashArgs bool

	// Subcommands are chosen by the next word. A Spec that has them needs one, unless Bare or the word fits Args.
	Subcommands []Spec[C]
	Bare        bool
}

// Arg is a word given by its place.
type Arg struct {
	Name     string   // as usage shows it: "SRC", "DST|all"; from Words where empty
	Kind     Kind     // what it names
	Words    []string // KindWord: all it may be; else: words it may be as well
	List     bool     // several of them, separated by commas
	Optional bool     // may be missing, as all after it
	Repeat   bool     // the last Arg only: any number more of it
	Written  bool     // KindFile: the command writes the file
}

// Option is written NAME=VALUE or --NAME=VALUE. Without a value, --NAME stands for --NAME=yes if the option takes
// yes and no, and so does the word NAME for an option of KindFlag. An option may stand anywhere after the command,
// once.
type Option struct {
	Name    string
	Aliases []string // former names, not shown in help and completion
	Summary string   // one line
	Value   string   // as usage shows it: "FILE"; from Words or Kind where empty
	Kind    Kind     // what its value names
	Words   []string // as those of Arg
	List    bool
	Written bool   // KindFile: the command writes the file
	Default string // the value where the option is missing: for help, and for [Invocation.Option] and Int
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

// Kind says what a word names: how it is checked and completed. Only KindWord,
// KindInt and KindFlag are checked by Bind; Env knows the candidates of the others.
type Kind uint8

// The kinds of words.
const (
	KindText     Kind = iota // free
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
	KindDumpKind             // a form in which routes are written and read
	KindPicture              // live, base, whatif, staged or the ID of a kept one
	KindCommand              // a command of this language
	KindSubnet               // a subnet of those that are open
)

var kindNames = [...]string{
	KindText: "TEXT", KindWord: "WORD", KindFlag: "FLAG", KindInt: "N", KindNode: "NODE",
	KindSwitch: "SWITCH", KindPort: "PORT", KindPlace: "PLACE", KindGUID: "GUID", KindFile: "FILE",
	KindEngine: "ENGINE", KindDumpKind: "KIND", KindPicture: "PICTURE", KindCommand: "COMMAND", KindSubnet: "SUBNET",
}

// String returns what usage calls a word of the kind, such as "FILE".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "?"
}
