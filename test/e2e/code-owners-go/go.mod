module portolan.test/code-owners

go 1.22.0

require github.com/hmarr/codeowners v1.2.1
