// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestWatchFailsWithoutItsSubnet: a watch for some time whose subnet is lost in the meantime ends with an error.
func TestWatchFailsWithoutItsSubnet(t *testing.T) {
	sim := ibsimtest.Start(t, sessiontest.NetFile(t, sessiontest.TwoSwitches))
	s := sessiontest.Open(t, "ibsim:"+sim.Name)
	stopped := time.AfterFunc(time.Second, sim.Stop)
	defer stopped.Stop()
	var out bytes.Buffer
	err := shell.New(s).Run(t.Context(), "test", "watch 0.1 for=4", &shell.Output{W: &out})
	if err == nil || !strings.Contains(err.Error(), "sweep: ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}
