// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"os"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/app/privilege"
	"example.org/ibconsole/internal/app/site"
	"example.org/ibconsole/internal/base/nocore"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/session/source"
)

// rights holds the devices and keys that the process opened as root before it dropped root privileges.
type rights struct {
	held *umad.HeldDevices // devices that were opened before root was given up, nil where it was not
	who  string            // who started the program, "" where root was not given up
	// keys are the M_Keys from the file keyFile, which may be readable only by the administrator.
	keyFile string
	keys    source.Keys
}

// giveUpRoot drops root privileges if another user started the program. Before that, it opens the umad devices and
// reads the keys of the administrator's configuration. As root, it opens no file that the user names.
func giveUpRoot() (rights, error) {
	u, ok, err := privilege.Started()
	if !ok || err != nil {
		return rights{}, err
	}
	r := rights{held: umad.Hold(""), who: u.String() + ", by " + u.By}
	ctx := context.Background()
	// An error is reported when the configuration is read again.
	if c, err := site.Read(ctx, site.Path(site.File)); err == nil && c.MKeys != "" {
		if keys, err := source.ReadKeys(ctx, c.MKeys); err == nil {
			r.keyFile, r.keys = c.MKeys, keys
		}
	}
	if err := u.Become(); err != nil {
		return r, err
	}
	if r.keyFile != "" { // fs.suid_dumpable may allow core dumps of a process that changes its user
		return r, nocore.Set()
	}
	return r, nil
}

// findings returns findings about root privileges. They are relevant only for a source that opens a device.
func (r *rights) findings(src source.Source) []umad.Finding {
	f := umad.Finding{Level: umad.Fine, Port: "root"}
	switch {
	case r.who != "":
		f.Text = fmt.Sprintf("given up for %s, after the umad devices were opened: files and the history are "+
			"the user's", fabric.Escape(r.who))
	case os.Geteuid() == 0 && src.Kind == source.Umad:
		f.Level, f.Text = umad.Note, "this program runs as root: its files and its history are root's"
		f.Remedy = "start it as a user who may open /dev/infiniband/umad*, or by sudo: then it gives root up"
	default:
		return nil
	}
	return []umad.Finding{f}
}
