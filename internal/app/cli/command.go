// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/draw"
)

// statusError is the exit status of a command that has already reported its error.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// status returns the error for an exit status, or nil for status 0.
func status(n int) error {
	if n == exitDone {
		return nil
	}
	return statusError(n)
}

// command returns the complete command line: the commands of the program and those of the shell.
func (o *options) command() *cobra.Command {
	root := &cobra.Command{
		Use: "ibconsole", Version: version(), SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return o.root(args) },
	}
	root.SetOut(o.out)
	root.SetErr(o.err)
	root.SetVersionTemplate("ibconsole {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().SortFlags = false
	o.flags(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := emptyFlag(cmd); err != nil {
			return err
		}
		return o.check(cmd, args)
	}
	o.completeFlags(root)
	root.AddCommand(o.words()...)
	reserved := func(name string) bool {
		return name != strictFlag && (name == "help" || root.PersistentFlags().Lookup(name) != nil)
	}
	for _, spec := range shell.New(nil).Specs() {
		isSpec := func(c *cobra.Command) bool { return c.Name() == spec.Name }
		if spec.Name == "help" || slices.ContainsFunc(root.Commands(), isSpec) {
			continue
		}
		cmd := o.shellCommand(reserved, nil, &spec)
		root.AddCommand(cmd)
		switch spec.Name {
		case "doctor": // without a word it needs no subnet
			cmd.Args, cmd.RunE = atMost(0), func(*cobra.Command, []string) error { return status(o.doctor()) }
		case "record":
			start := &spec.Subcommands[slices.IndexFunc(spec.Subcommands, func(s shell.Spec) bool {
				return s.Name == "start"
			})]
			o.declareOptions(cmd, start.Options, reserved)
			cmd.ValidArgsFunction = o.completeArguments([]string{spec.Name, start.Name})
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				return status(o.record(append(args, o.optionWords(cmd)...)))
			}
		}
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(o.helpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		o.helpStatus = o.help(slices.Concat(strings.Fields(cmd.CommandPath())[1:], cmd.Flags().Args()))
	})
	return root
}

// flags declares the flags.
func (o *options) flags(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&o.sources, "source", "s", nil, "open this subnet: umad, ibsim, sim:, file:, net:, "+
		"ibdiagnet:")
	flags.StringArrayVarP(&o.commands, "command", "c", nil, "run these commands")
	flags.StringVar(&o.theme, "theme", "", "theme of the screen: dark, light, contrast or none")
	flags.BoolVar(&o.noColor, "no-color", os.Getenv("NO_COLOR") != "", "use no colours")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object per line")
	flags.StringVarP(&o.form, "output", "o", "", "format of answers: text, json, csv, md or html")
	flags.StringVar(&o.table, "table", "", "print this table of an answer, with -o csv")
	flags.StringVar(&o.failOn, "fail-on", "", "findings of problems, diff and others that set exit status 1: "+
		strings.Join(shell.FailOns, ", "))
	flags.BoolVar(&o.quiet, "quiet", false, "print errors only")
	flags.IntVar(&o.window, "window", 0, "most management packets in flight")
	flags.BoolVar(&o.fast, "fast", false, "send as many packets as a simulated subnet accepts")
	flags.StringVar(&o.mkeys, "mkeys", "", "read the M_Key and the SA_Key from a file")
	flags.StringVar(&o.report, "report", "", "write a report for a bug to a file, with doctor")
	flags.BoolVar(&o.strict, strictFlag, false, "refuse a file with parts that cannot be read")
}

// emptyFlag returns an error if a flag of the program has an empty value, as of an unset variable in a script.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.Root().PersistentFlags().Lookup(f.Name) == f && f.Value.String() == "" {
			err = fmt.Errorf("--%s is empty", f.Name)
		}
	})
	return err
}

// check returns an error if flags have invalid values or contradict the words.
func (o *options) check(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	switch {
	case given("output") && !slices.Contains(answer.Forms, answer.Form(o.form)):
		return fmt.Errorf("--output is %q, expected text, json, csv, md or html", o.form)
	case given("output") && o.json && o.form != string(answer.FormJSON):
		return fmt.Errorf("--json contradicts --output %s", o.form)
	case given("fail-on") && !slices.Contains(shell.FailOns, o.failOn):
		return fmt.Errorf("--fail-on is %q, expected one of %s", o.failOn, strings.Join(shell.FailOns, ", "))
	case o.quiet && (cmd.Name() == "shell" || cmd.Name() == "tour"):
		return fmt.Errorf("--quiet contradicts %s", cmd.Name())
	case given("table") && o.form != string(answer.FormCSV):
		return errors.New("--table requires --output csv")
	case given("window") && (o.window < 1 || o.window > mad.MaxWindow):
		return fmt.Errorf("--window %d: expected 1 to %d management packets in flight", o.window, mad.MaxWindow)
	case given("theme") && !slices.Contains(draw.Themes, o.theme):
		return fmt.Errorf("unknown theme %q, expected one of %s", o.theme, strings.Join(draw.Themes, ", "))
	case given("report") && (cmd.Name() != "doctor" || len(args) > 0):
		return errors.New("--report FILE applies only to doctor")
	case len(o.commands) == 0:
	case cmd.HasParent():
		return fmt.Errorf("-c and the command %q cannot be combined", cmd.Name())
	case len(args) > 0:
		return fmt.Errorf("-c and the command %q cannot be combined", args[0])
	}
	o.divert()
	return nil
}

// root runs the program if its arguments contain no command word, such as trace.
func (o *options) root(args []string) error {
	switch {
	case len(args) > 0: // a word that is no command, or words after --
		if _, err := lang.Find(shell.New(nil).Specs(), args[0]); err != nil {
			return err
		}
		return status(o.statement(lang.NewStatement(args, len(args))))
	case len(o.commands) > 0:
		return status(o.script("-c", o.commands...))
	}
	return status(o.interactive())
}

// words returns the commands that belong to the program, not to the shell: run, tour and others.
func (o *options) words() []*cobra.Command {
	word := func(use string, most int, run func(args []string) int) *cobra.Command {
		cmd := &cobra.Command{Use: use, Args: atMost(most), RunE: func(_ *cobra.Command, args []string) error {
			return status(run(args))
		}}
		if spec, err := lang.Find(helpSpecs(), cmd.Name()); err == nil {
			cmd.Short = spec.Summary
		}
		if most == 0 {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		return cmd
	}
	run := word("run FILE|-", 1, func(args []string) int {
		if len(args) == 0 || args[0] == "" {
			return o.misused(errors.New("run: FILE is missing, or - for standard input"))
		}
		return o.file(args[0])
	})
	tour := word("tour", 0, func([]string) int {
		if !o.onTerminal() {
			return o.misused(errors.New("open the tour: standard input and output are not a terminal"))
		}
		return o.tui(true)
	})
	completion := word("completion bash|zsh|fish", 1, o.completion)
	completion.ValidArgs = shells
	schema := word("schema [COMMAND]", 4, o.schema)
	schema.ValidArgsFunction = completeCommands
	return []*cobra.Command{
		word("shell", 0, func([]string) int { return o.repl() }), run, tour, completion,
		word("version", 0, func([]string) int { return o.printText("ibconsole " + version() + "\n") }),
		schema,
		word("man", 0, func([]string) int { return o.man() }),
	}
}

// atMost is like cobra.MaximumNArgs with an error text of our own.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return fmt.Errorf("unexpected word %q after %s", args[n], cmd.Name())
		}
		return nil
	}
}

func (o *options) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "print help on a command",
		RunE:              func(_ *cobra.Command, args []string) error { return status(o.help(args)) },
		ValidArgsFunction: completeCommands,
	}
}

// strictFlag names both a flag of the program and an option of commands. --strict means both, before or after a
// command.
const strictFlag = "strict"

// shellCommand returns a command of the shell with its subcommands. Its words go to the shell unchanged. Its options
// may also be written --NAME=VALUE, unless the name is reserved for a flag of the program.
func (o *options) shellCommand(reserved func(string) bool, path []string, spec *shell.Spec,
	above ...lang.Option) *cobra.Command {
	path = slices.Concat(path, []string{spec.Name})
	options := slices.Concat(spec.Options, above)
	cmd := &cobra.Command{
		Use: spec.Name, Short: spec.Summary, Aliases: spec.Aliases, Args: cobra.ArbitraryArgs,
		DisableFlagsInUseLine: true, ValidArgsFunction: o.completeArguments(path),
		RunE: func(cmd *cobra.Command, args []string) error {
			return status(o.statement(o.statementOf(cmd, path, args)))
		},
	}
	o.declareOptions(cmd, options, reserved)
	for i := range spec.Subcommands {
		cmd.AddCommand(o.shellCommand(reserved, path, &spec.Subcommands[i], options...))
	}
	return cmd
}

// statementOf returns the statement of a shell command with its words. Words after -- are arguments, not options.
func (o *options) statementOf(cmd *cobra.Command, path, args []string) lang.Statement {
	if o.on != "" {
		path = slices.Concat([]string{onCommand, o.on}, path)
	}
	literal := args[len(args):]
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args, literal = args[:dash], args[dash:]
	}
	words := slices.Concat(path, args, o.optionWords(cmd))
	return lang.NewStatement(append(words, literal...), len(words))
}

// optionWords returns the words of the options of a shell command that were given as flags.
func (o *options) optionWords(cmd *cobra.Command) (words []string) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		if f.Name == strictFlag && f.Value.String() == f.NoOptDefVal {
			o.strict = true // as before the command
		}
		words = append(words, f.Name+"="+f.Value.String())
	})
	return words
}

// declareOptions declares options of a command of the shell as flags, except for those whose names are reserved.
func (o *options) declareOptions(cmd *cobra.Command, options []lang.Option, reserved func(string) bool) {
	for i := range options {
		option := &options[i]
		for _, name := range slices.Concat([]string{option.Name}, option.Aliases) {
			if reserved(name) || cmd.Flags().Lookup(name) != nil {
				continue
			}
			cmd.Flags().String(name, "", option.Summary)
			flag := cmd.Flags().Lookup(name)
			flag.NoOptDefVal = option.Bare()
			flag.Hidden = name != option.Name
			_ = cmd.RegisterFlagCompletionFunc(name, o.completeValue(option)) // fails only for an unknown flag
		}
	}
}

// statement runs a command of the shell.
func (o *options) statement(stmt lang.Statement) int {
	all := []lang.Statement{stmt}
	o.first = shell.New(nil).FirstReads(all)
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		return s.Execute(ctx, stmt.Words[0], all, o.lastOutput())
	})
}

// onCommand names the command of the shell that runs another command on a subnet.
const onCommand = "on"

// rootWords are commands of the shell that the program replaces with its own.
var rootWords = []string{"doctor", "help", "record", "run"}

// cutSubnet removes the words "on SUBNET" before a command of the shell, and keeps the name of the subnet. The flags of
// the command then have their meaning, and its words are completed.
func (o *options) cutSubnet(args []string, root *cobra.Command) []string {
	at := 0
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		at++ // completion follows
	}
	for flags := root.PersistentFlags(); at < len(args) && len(args[at]) > 1 && args[at][0] == '-'; at++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(args[at], "-"), "=")
		flag := flags.Lookup(name)
		if !strings.HasPrefix(args[at], "--") {
			flag, hasValue = flags.ShorthandLookup(args[at][1:2]), len(args[at]) > 2
		}
		if flag != nil && flag.NoOptDefVal == "" && !hasValue {
			at++ // the next word is the value
		}
	}
	if at+2 >= len(args) || args[at] != onCommand || args[at+1] == "" || args[at+1][0] == '-' ||
		slices.Contains(rootWords, args[at+2]) {
		return args
	}
	if _, err := lang.Find(shell.New(nil).Specs(), args[at+2]); err != nil {
		return args
	}
	o.on = args[at+1]
	return slices.Delete(slices.Clone(args), at, at+2)
}

// dashHint is the remedy if a word of a command looks like a flag.
const dashHint = "; hint: write -- before words that begin with '-'"

// flagError returns the error for a flag that a command does not have, or whose value is invalid.
func flagError(cmd *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := invalid.GetFlag()
		expected := map[string]string{"int": "a whole number", "bool": "true or false"}[flag.Value.Type()]
		return fmt.Errorf("--%s is %q, expected %s", flag.Name, invalid.GetValue(), cmp.Or(expected, "another value"))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	switch {
	case !ok:
		return err
	case unknown.GetSpecifiedShortnames() != "":
		return fmt.Errorf("%w"+dashHint, err)
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	if len(path) == 0 {
		return err
	}
	spec, missing := lang.Find(shell.New(nil).Specs(), path[0])
	if missing != nil {
		return err
	}
	words := append(path, "--"+unknown.GetSpecifiedName()+"=")
	if _, _, misused := lang.Bind(spec, lang.NewStatement(words, len(words))); misused != nil {
		return misused
	}
	return err
}

// longFlags rewrites -name to --name if name is a long flag, because the program has always accepted that form. It
// refuses a single dash before an unknown word: -strict must not be read as -s with the value trict.
func longFlags(args []string, flags *pflag.FlagSet) ([]string, error) {
	out := slices.Clone(args)
	for i := 0; i < len(out); i++ {
		arg := out[i]
		if arg == "--" {
			break
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		dashes := len(arg) - len(strings.TrimLeft(arg, "-"))
		if dashes == 0 || dashes > 2 || name == "" {
			continue
		}
		flag := flags.Lookup(name)
		if len(name) == 1 && dashes == 1 {
			flag = flags.ShorthandLookup(name)
		}
		switch {
		case dashes == 1 && len(name) > 1 && flag == nil && name != "help" && name != "version":
			return nil, fmt.Errorf("unknown flag: %s"+dashHint, arg)
		case dashes == 1 && len(name) > 1:
			out[i] = "-" + arg
		}
		if flag != nil && flag.NoOptDefVal == "" && !hasValue {
			i++ // the next word is the value
		}
	}
	return out, nil
}
