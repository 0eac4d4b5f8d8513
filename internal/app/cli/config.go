// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"example.org/ibconsole/internal/app/site"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/session/source"
)

// config is what the user's file and the administrator's say.
type config struct {
	site.Config             // the user's words before the administrator's
	own, admins site.Config // each by itself
}

// config reads both.
func (o *options) config(ctx context.Context) (c config, err error) {
	if o.site != "" {
		if c.admins, err = site.Read(ctx, o.site); err != nil {
			return c, err
		}
	}
	if path := userConfig(); path != "" {
		c.own, err = site.Read(ctx, path)
		if errors.Is(err, fs.ErrPermission) { // HOME is another's, as after setpriv
			err = nil
		}
		if err != nil {
			return c, err
		}
	}
	c.Config = c.own.Over(c.admins)
	return c, nil
}

// mayWrite says why one of the two keeps this user from writing: the user's own can forbid more, never allow.
func (c *config) mayWrite() error { return errors.Join(c.admins.MayWrite(), c.own.MayWrite()) }

// from is the source where the command line names none.
func (c *config) from(held *umad.HeldDevices) (name, note string) {
	if c.Source != "" && os.Getenv(source.Var) == "" {
		return c.Source, ""
	}
	return source.Default(held)
}

// userConfig is the user's configuration file, "" for nowhere.
func userConfig() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ibconsole", "config")
}
