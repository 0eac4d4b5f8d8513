// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

var shells = []string{"bash", "zsh", "fish"} // those that completion is written for

// completionScripts ask the program itself for what may follow the words typed so far; the last may be empty.
var completionScripts = map[string]string{
	"bash": `# ibconsole completion for bash: source <(ibconsole completion bash)
_ibconsole() {
	local line cur
	cur="${COMP_LINE:0:COMP_POINT}"
	cur="${cur##*[[:space:]]}"
	COMPREPLY=()
	while IFS= read -r line; do
		COMPREPLY+=("${line%%$'\t'*}")
	done < <(ibconsole complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$cur" 2>/dev/null)
	# Words end at a colon for bash: it wants only what follows one.
	if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
		local i
		for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]="${COMPREPLY[i]#"${cur%"${cur##*:}"}"}"; done
	fi
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace
}
complete -o default -F _ibconsole ibconsole
`,
	"zsh": `#compdef ibconsole
# ibconsole completion for zsh: source <(ibconsole completion zsh)
_ibconsole() {
	local -a found
	local line
	while IFS= read -r line; do
		line="${line//:/\\:}"
		found+=("${line/$'\t'/:}")
	done < <(ibconsole complete "${(@)words[2,CURRENT-1]}" "${words[CURRENT]}" 2>/dev/null)
	if (( ${#found} )); then _describe 'ibconsole' found; else _files; fi
}
if [[ $zsh_eval_context == *loadautofunc ]]; then _ibconsole "$@"; else compdef _ibconsole ibconsole; fi
`,
	"fish": `# ibconsole completion for fish: ibconsole completion fish | source
complete -c ibconsole -a '(ibconsole complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
}

// flagWords are the flags with what they are, and whether a value follows.
var flagWords = []struct {
	name, what string
	value      bool
}{
	{"-s", "the subnet: umad, ibsim, sim:, file:, net:, ibdiagnet:", true},
	{"-c", "commands to run", true},
	{"--theme", "dark, light, contrast or none", true},
	{"--no-color", "no colours", false},
	{"--json", "print JSON, an object a line", false},
	{"--window", "management packets in flight", true},
	{"--fast", "as many as a simulated subnet takes", false},
	{"--mkeys", "the file with the M_Key and the SA_Key", true},
	{"--report", "with doctor: what a report of a bug needs, into a file", true},
	{"--strict", "refuse a file of which something cannot be read", false},
}

var mainWords = [][2]string{
	{"shell", "the command line"}, {"run", "a script from a file or standard input"}, {"tour", "the screen, with a tour through it"},
	{"record", "record counters and events until a signal comes"},
	{"version", "what this is"}, {"doctor", "what this machine has, and what is missing"}, {"help", "help on a command"},
	{"completion", "a completion script for bash, zsh or fish"}, {"man", "the manual page"},
}

// complete prints what may stand where the last of the words of a command line
// does, a line each, with what it means behind a tab.
func (o *options) complete(words []string) int {
	last, before := "", words
	if n := len(words); n > 0 {
		last, before = words[n-1], words[:n-1]
	}
	for _, c := range completions(before) {
		if strings.HasPrefix(c[0], last) {
			_, _ = fmt.Fprintf(o.out, "%s\t%s\n", c[0], c[1])
		}
	}
	return exitDone
}

// completions are what may follow words, each with what it means.
func completions(before []string) [][2]string {
	var out [][2]string
	prev, word := "", ""
	for i := 0; i < len(before); i++ {
		prev = before[i]
		if strings.HasPrefix(prev, "-") {
			if takesValue(prev) {
				i++
			}
			continue
		}
		word = prev
		break
	}
	if n := len(before); n > 0 {
		prev = before[n-1]
	}
	switch {
	case prev == "-s":
		return sourceWords()
	case prev == "--theme":
		for _, t := range draw.Themes {
			out = append(out, [2]string{t, "theme"})
		}
		return out
	case prev == "-c" || word == "help":
		for _, s := range shell.New(nil).Specs() {
			out = append(out, [2]string{s.Name, s.Summary})
		}
		return out
	case takesValue(prev) || word == "run":
		return nil
	case word == "completion":
		for _, s := range shells {
			out = append(out, [2]string{s, "completion script"})
		}
		return out
	}
	if word == "" {
		out = append(out, mainWords...)
	}
	for _, f := range flagWords {
		out = append(out, [2]string{f.name, f.what})
	}
	return out
}

func takesValue(flag string) bool {
	for _, f := range flagWords {
		if f.name == flag {
			return f.value
		}
	}
	return false
}

func sourceWords() [][2]string {
	out := [][2]string{{"umad", "the first active port"}, {"ibsim", "a running ibsim"}, {"file:", "offline: a file of ibnetdiscover, ibsim or OpenSM"},
		{"net:", "offline: a file by ibsim's rules"}, {"ibdiagnet:", "offline: a folder of ibdiagnet 2, or a .tar.gz of it"}, {"sim:", "simulated, of a file"},
		{session.EveryPort, "every active port, a subnet each"}, {"sim:rails:", "simulated, several subnets of the same hosts"}}
	for _, k := range gen.Kinds() {
		out = append(out, [2]string{"sim:" + k.Name + ":", "simulated"})
	}
	return out
}

func (o *options) completion(args []string) int {
	if len(args) == 0 || !slices.Contains(shells, args[0]) {
		return o.misused(fmt.Errorf("completion for which shell? one of %s", strings.Join(shells, ", ")))
	}
	_, _ = fmt.Fprint(o.out, completionScripts[args[0]])
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
	line(".fi\n.SH DESCRIPTION\n%s", roff("ibconsole shows what is attached to what in a subnet and which path every packet takes, computes routes and lets links and switches fail on paper, says what would change, and writes forwarding tables to switches when it is told to."))
	line(".PP\n%s", roff(strings.TrimSpace(rest)))
	line(".SH OPTIONS")
	for _, f := range flagWords {
		line(".TP\n.B %s\n%s", roff(f.name), roff(f.what))
	}
	line(".SH COMMANDS\n%s", roff("Typed behind : on the screen, in the shell, in scripts and behind -c."))
	for _, s := range shell.New(nil).Specs() {
		line(".TP\n.B %s\n%s", roff(s.Name), roff(s.Summary))
		if s.Example != "" {
			line(".br\n.I %s", roff(s.Example))
		}
	}
	line(".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/ibconsole/config\nkeys, theme and mouse of the screen, source, names, hints, mkeys, watch, write\n.TP\n.I /etc/ibconsole/config\nthe same of the administrator, but for the screen\n.TP\n.I $XDG_STATE_HOME/ibconsole/\nthe history of subnets, and what was typed")
	line(".SH ENVIRONMENT\n.TP\n.B IBCONSOLE_SOURCE\nthe subnet where -s names none\n.TP\n.B NO_COLOR\nno colours")
	line(".SH EXIT STATUS\n%s", roff("0: done. 1: a command failed. 2: it was not understood. 128 and the number of a signal: that ended it."))
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
