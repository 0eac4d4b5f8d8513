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
	"example.org/ibconsole/shell/session/source"
)

var shells = []string{"bash", "zsh", "fish"} // those that completion is written for

// sourceWords are what -s takes for completion.
func sourceWords() []string {
	var out []string
	for _, w := range [][2]string{
		{"umad", "the first active port"}, {"ibsim", "a running ibsim"},
		{"file:", "offline: a file of ibnetdiscover, ibsim or OpenSM"},
		{
			"net:", "offline: a file by ibsim's rules",
		}, {"ibdiagnet:", "offline: a folder of ibdiagnet 2, or a .tar.gz of it"},
		{"sim:", "simulated, of a file"}, {source.EveryPort, "every active port, a subnet each"},
		{"sim:rails:", "simulated, several subnets of the same hosts"},
	} {
		out = append(out, cobra.CompletionWithDesc(w[0], w[1]))
	}
	for _, k := range gen.Kinds() {
		out = append(out, cobra.CompletionWithDesc("sim:"+k.Name+":", "simulated"))
	}
	return out
}

// completion prints the script with which a shell completes words.
func (o *options) completion(args []string) int {
	if len(args) == 0 || !slices.Contains(shells, args[0]) {
		return o.misused(fmt.Errorf("completion for which shell? one of %s", strings.Join(shells, ", ")))
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

// schema prints the JSON Schema of what a command answers, that of all commands where none is named.
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
		roff("ibconsole shows what is attached to what in a subnet and which path every packet takes, computes "+
			"routes and lets links and switches fail on paper, says what would change, and writes forwarding tables "+
			"to switches when it is told to."))
	line(".PP\n%s", roff(strings.TrimSpace(rest)))
	line(".SH OPTIONS")
	o.command().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		line(".TP\n.B %s\n%s", roff(name), roff(f.Usage))
	})
	line(".SH COMMANDS\n%s", roff("Typed behind : on the screen, in the shell, in scripts and behind -c."))
	for _, s := range shell.New(nil).Specs() {
		line(".TP\n.B %s\n%s", roff(s.Name), roff(s.Summary))
	}
	line(".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/ibconsole/config\nkeys, theme and mouse of the screen, source, names, " +
		"hints, mkeys, watch, write\n.TP\n.I /etc/ibconsole/config\nthe same of the administrator, but for the " +
		"screen\n.TP\n.I $XDG_STATE_HOME/ibconsole/\nthe history of subnets, and what was typed")
	line(".SH ENVIRONMENT\n.TP\n.B IBCONSOLE_SOURCE\nthe subnet where -s names none\n.TP\n.B NO_COLOR\nno colours")
	line(".SH EXIT STATUS\n%s",
		roff("0: done. 1: a command failed. 2: it was not understood. 128 and the number of a signal: that ended it."))
	line(".SH SEE ALSO\n.BR opensm (8),\n.BR ibnetdiscover (8),\n.BR ibsim (8)")
	_, _ = fmt.Fprint(o.out, b.String())
	return exitDone
}

// roff makes text one paragraph of a manual page.
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
