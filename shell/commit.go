package shell

func commitCommands() []command { return nil }
