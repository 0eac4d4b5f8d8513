// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestSharedNames checks in the answers of many commands that a name that several nodes have is never there without
// the GUID of the node.
func TestSharedNames(t *testing.T) {
	const shared = "MT23108 InfiniHost Mellanox Technologies"
	var net strings.Builder
	if err := gen.WriteNet(&net, gentest.Fabric(t, "fattree:2,6")); err != nil {
		t.Fatal(err)
	}
	// Most hosts and the spines share a name.
	text := regexp.MustCompile(`# "(node-00[01][1-9] HCA-1|spine-..)"`).ReplaceAllString(net.String(), `# "`+shared+`"`)
	for _, file := range []string{
		testenv.SharedFile(t, "cases/07-manpage-chassis/in.topo"), writeFile(t, "shared.net", text),
	} {
		s := sessiontest.OpenWith(t, "file:"+file, session.Options{Fast: true})
		f := s.State().Live.Fabric
		host, sw := "", ""
		for i := range f.NumNodes() {
			switch name := fmt.Sprintf("node:0x%x", f.Nodes[i].GUID); {
			case !f.IsShared(i):
			case f.Nodes[i].IsSwitch():
				sw = name
			default:
				host = name
			}
		}
		if sw == "" {
			sw = fmt.Sprintf("node:0x%x", f.SwitchNode(0).GUID)
		}
		sh := shell.New(s)
		seen := 0
		for line := range strings.Lines(sharedCommands) {
			command := strings.NewReplacer("HOST", host, "SWITCH", sw).Replace(strings.TrimSpace(line))
			for _, form := range []answer.Form{answer.FormText, answer.FormJSON, answer.FormCSV} {
				var out bytes.Buffer
				if form != answer.FormText && (command == "route" || strings.HasPrefix(command, "fail ")) {
					continue
				}
				err := sh.Run(t.Context(), "test", command, &shell.Output{W: &out, Form: form})
				seen += strings.Count(out.String(), shared)
				if form == answer.FormJSON {
					for line := range strings.Lines(out.String()) {
						var v any
						if json.Unmarshal([]byte(line), &v) == nil {
							checkSharedJSON(t, command, shared, v)
						}
					}
					continue
				}
				checkSharedText(t, command, shared, fmt.Sprint(out.String(), err))
			}
		}
		if seen < 20 {
			t.Errorf("%s: the name is there %d times", file, seen)
		}
	}
}

const sharedCommands = `summary
problems
show nodes
show switches
show links
show structure
show ranks
show roots
show ports HOST
show ports SWITCH
show where HOST
route
show lft SWITCH
show mft SWITCH
show failures
show states
show unanswered
check
check reach
check credits
check load
trace HOST all rows
trace all HOST rows
trace HOST all
who uses SWITCH
resilience links
resilience switches
show sl HOST all
balance hot
balance lid
balance switch SWITCH
hosts
report text -
report csv -
report dot -
report json -
paths alternate HOST all
compare engines minhop updn
fail node HOST
route
diff
diff entries
whatif
problems of=whatif
show failures`

// toldApart matches the text behind a name: the GUID, or the port of the switch on which the node is.
const toldApart = ` (\(0x[0-9a-f]{16}\)|at [^,]+/\d+)`

// checkSharedText checks that the GUID or the port is behind each name, or the GUID in the next column.
func checkSharedText(t *testing.T, command, shared, text string) {
	t.Helper()
	for _, after := range strings.Split(text, shared)[1:] {
		if !matches(after, `^`+toldApart) && !matches(after, `^"?,"?0x`) {
			t.Errorf("%s: the name without a GUID:\n%s", command, text)
			return
		}
	}
}

// checkSharedJSON checks that an object with the name has a GUID, and that a text with the name has the GUID behind it.
func checkSharedJSON(t *testing.T, command, shared string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if name, _ := v["name"].(string); strings.Contains(name, shared) && v["guid"] == nil && v["node_guid"] == nil &&
			!matches(name, `\(0x[0-9a-f]{16}\)`) {
			t.Errorf("%s: no GUID in %v", command, v)
		}
		for key, of := range v {
			if text, ok := of.(string); ok && key != "name" && strings.Contains(text, shared) &&
				!matches(text, regexp.QuoteMeta(shared)+toldApart) {
				t.Errorf("%s: %s without a GUID: %q", command, key, text)
			}
			checkSharedJSON(t, command, shared, of)
		}
	case []any:
		for _, of := range v {
			checkSharedJSON(t, command, shared, of)
		}
	}
}
