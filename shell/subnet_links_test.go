// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/session/metrics"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestLinksOfSubnet: in a file with three subnets that adapters join, every count is that of the subnet of the console.
// The subnet has 20 links.
func TestLinksOfSubnet(t *testing.T) {
	file := "file:" + testenv.SharedFile(t, "cases/03-ibsim39-planes/in.net")
	out, err := on(t, file, "summary")
	if err != nil || !strings.Contains(out, "3 switches, 16 channel adapters, 20 links") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = on(t, file, "show links")
	if n := len(regexp.MustCompile(`(?m) 4xSDR `).FindAllString(out, -1)); err != nil || n != 20 {
		t.Errorf("show links lists %d links: %v\n%s", n, err, out)
	}
	if out, err := on(t, file, "show links NVSW1"); err != nil || strings.Count(out, " 4xSDR ") == 0 {
		t.Errorf("links of a switch of another subnet: %v\n%s", err, out)
	}
	st := sessiontest.Open(t, file).State()
	var text strings.Builder
	if err := metrics.Write(&text, []*metrics.Snapshot{{Fabric: st.Live.Fabric}}, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`(?m)^ibconsole_links\S* 20$`, `(?m)^ibconsole_nodes\S* 19$`} {
		if !matches(text.String(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}
