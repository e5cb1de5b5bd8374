irdl.dialect @adze {
}
