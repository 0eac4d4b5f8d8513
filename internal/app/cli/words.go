// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/source"
)

var shells = []string{"bash", "zsh", "fish"} // with completion scripts

// programWords describes the commands of the program that are not commands of the shell, for help.
var programWords = []shell.Spec{
	{
		Name: "shell", Summary: "Open the command line",
		Help:     "It reads commands line by line, with completion and history. exit or Ctrl-D ends it.",
		Examples: []string{"ibconsole shell", "ibconsole -s sim:fattree:2,36 shell"},
	},
	{
		Name: "tour", Summary: "Open the screen with a tour",
		Help:     "The tour shows the panes and the most important keys in a few steps.",
		Examples: []string{"ibconsole tour", "ibconsole -s sim:torus:4x4x4 tour"},
	},
	{
		Name: "completion", Summary: "Print the completion script of a shell",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: shells}},
		Examples: []string{
			"source <(ibconsole completion bash)",
			"ibconsole completion fish > ~/.config/fish/completions/ibconsole.fish",
		},
	},
	{
		Name: "version", Summary: "Print the version of the program",
		Examples: []string{"ibconsole version", "ibconsole --version"},
	},
	{
		Name: "schema", Summary: "Print the JSON Schema of the answers of commands",
		Help:     "Without COMMAND it prints one schema for the answers of all commands.",
		Args:     []lang.Arg{{Kind: lang.KindCommand, Optional: true, Repeat: true}},
		Examples: []string{"ibconsole schema", "ibconsole schema show links"},
	},
	{
		Name: "man", Summary: "Print the manual page",
		Help:     "The page is in the format of man(1).",
		Examples: []string{"ibconsole man | man -l -", "ibconsole man > ibconsole.1"},
	},
}

// helpSpecs returns the commands of the shell and those of the program alone.
func helpSpecs() []shell.Spec { return slices.Concat(shell.New(nil).Specs(), programWords) }

// sourceWords returns the completions of -s.
func sourceWords() []string {
	var out []string
	for _, w := range [][2]string{
		{"umad", "first active port"}, {"ibsim", "running ibsim"},
		{"file:", "offline, from a file of ibnetdiscover, ibsim or OpenSM"},
		{
			"net:", "offline, from a file by ibsim's rules",
		}, {"ibdiagnet:", "offline, from a folder of ibdiagnet 2 or a .tar.gz of it"},
		{"sim:", "simulated, from a file"}, {source.EveryPort, "every active port, each a subnet"},
		{"sim:rails:", "simulated, several subnets of the same hosts"},
	} {
		out = append(out, cobra.CompletionWithDesc(w[0], w[1]))
	}
	for _, k := range gen.Kinds() {
		out = append(out, cobra.CompletionWithDesc("sim:"+k.Name+":", "simulated"))
	}
	return out
}

// completion prints the completion script of a shell.
func (o *options) completion(args []string) int {
	if len(args) == 0 || !slices.Contains(shells, args[0]) {
		return o.misused(fmt.Errorf("completion: expected a shell: %s", strings.Join(shells, ", ")))
	}
	root := o.command()
	var err error
	switch args[0] {
	case "bash":
		err = root.GenBashCompletionV2(o.out, true)
	case "zsh":
		err = root.GenZshCompletion(o.out)
	case "fish":
		err = root.GenFishCompletion(o.out, true)
	}
	if err != nil {
		return o.failed(err)
	}
	return exitDone
}

// schema prints the JSON Schema of the answers of a command, or of all commands.
func (o *options) schema(words []string) int {
	schema, err := shell.Schemas(words...)
	if err != nil {
		return o.misused(err)
	}
	out := json.NewEncoder(o.out)
	out.SetIndent("", "  ")
	if err := out.Encode(schema); err != nil {
		return o.failed(err)
	}
	return exitDone
}

func (o *options) man() int {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(".TH IBCONSOLE 1")
	line(".SH NAME\nibconsole \\- a terminal console for an InfiniBand subnet")
	line(".SH SYNOPSIS\n.nf")
	head, rest, _ := strings.Cut(usage, "\n\n")
	for l := range strings.SplitSeq(strings.TrimPrefix(head, "usage:\n"), "\n") {
		line("%s", roff(strings.TrimPrefix(l, "  ")))
	}
	line(".fi\n.SH DESCRIPTION\n%s",
		roff("ibconsole shows the topology of an InfiniBand subnet and the path of every packet. It computes routes, "+
			"simulates failures and changes, and compares the result. It writes forwarding tables to switches only "+
			"when the user allows it."))
	line(".PP\n%s", roff(strings.TrimSpace(rest)))
	line(".SH OPTIONS")
	o.command().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		line(".TP\n.B %s\n%s", roff(name), roff(f.Usage))
	})
	line(".SH COMMANDS\n%s",
		roff("These commands run on the screen after a colon, in the shell, in scripts, with -c, and as "+
			"words of the command line. ibconsole help COMMAND shows their arguments and options."))
	group := ""
	for _, s := range shell.New(nil).Specs() {
		if s.Group != group {
			group = s.Group
			line(".SS %s", roff(group))
		}
		line(".TP\n.B %s\n%s", roff(s.Name), roff(s.Summary))
	}
	entries := func(heading string, entries ...string) {
		line(".SH %s", heading)
		for i := 0; i < len(entries); i += 2 {
			line(".TP\n.B %s\n%s", roff(entries[i]), roff(entries[i+1]))
		}
	}
	entries("EXAMPLES",
		"ibconsole", "Open the screen on the first active port of this machine, or on a simulated subnet.",
		"ibconsole -s file:fabric.net problems", "List the problems of a subnet in a file of ibnetdiscover.",
		"ibconsole -s umad trace node-0001 node-0648 --back", "Trace a path and the path back.",
		"ibconsole -s sim:fattree:2,36 -c 'fail switch spine-01; route; check reach'",
		"Simulate the failure of a switch and check all paths.",
		"ibconsole --json -s umad show links", "List the links as JSON, one object per line.")
	entries("FILES",
		"$XDG_CONFIG_HOME/ibconsole/config",
		"Configuration of the user: the screen (theme, skin, mouse, pane, key, bind, alias, columns), and the lines "+
			"of the administrator. docs/keys.md and docs/site.md describe them.",
		"/etc/ibconsole/config", "Configuration of the administrator: source, names, hints, mkeys, watch, alert, "+
			"limit, write, and sets of sources.",
		"$XDG_STATE_HOME/ibconsole/", "History of subnets, and the typed commands.",
		"/var/lib/ibconsole/", "Recordings of a service.")
	entries("ENVIRONMENT",
		"IBCONSOLE_SOURCE", "Source if -s is not given.",
		"NO_COLOR", "If it is set, use no colours.",
		"OSM_CACHE_DIR", "Directory of OpenSM's guid2lid and other caches (default /var/cache/opensm).")
	line(".SH EXIT STATUS")
	for _, s := range exitStatuses {
		line(".TP\n.B %s\n%s", roff(s.status), roff(s.meaning))
	}
	line(".SH SEE ALSO\n.BR opensm (8),\n.BR ibnetdiscover (8),\n.BR ibsim (8)")
	return o.printText(b.String())
}

// roff escapes text for a paragraph of a manual page.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
